import { isQuittanceError, QuittanceError } from '../../kernel/errors.ts'
import { isJsonObject, type JsonObject } from '../body/json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { SubscriptionOperations, SubscriptionWishRequest } from '../subscription-operations.ts'
import { replyInvalid, requirePaddleApi, type PaddleApi } from './api.ts'
import { newestCharges } from './find-charges.ts'
import { isId } from './payload.ts'
import { paidUntil, plansOf } from './read-subscription.ts'

// Paddle has no idempotency keys: a wish is one request that changes something, never repeated.
// What was wished before is refused, which is looked into: if all is as wished, it is done.

type Operation<Name extends 'cancel' | 'pause' | 'resume'> = NonNullable<
  SubscriptionOperations[Name]
>

/**
 * A paused one is canceled at once, whatever is asked for.
 * https://developer.paddle.com/api-reference/subscriptions/cancel-subscription
 */
export const cancelSubscription: Operation<'cancel'> = async (request, context) => {
  const isNow = request.at === 'now'
  await wish(request, context, {
    ask: (api, path) => api.post(`${path}/cancel`, { effective_from: effectiveFrom(request.at) }),
    isDone: (found) =>
      found.get('status') === 'canceled' || (!isNow && plansOf(found).cancelAt !== null),
  })
}

/**
 * `until`: Paddle resumes it then, and charges the payer, unless a paid period is still going on.
 * https://developer.paddle.com/api-reference/subscriptions/pause-subscription
 */
export const pauseSubscription: Operation<'pause'> = async (request, context) => {
  const { at, until } = request
  const current = (api: PaddleApi) => api.get('subscriptions', request.reference)
  await wish(request, context, {
    ask: async (api, path) =>
      api.post(`${path}/pause`, {
        effective_from: effectiveFrom(at),
        ...(until !== null && {
          resume_at: until.toISOString(),
          on_resume: at === 'now' ? await onResume(api, await current(api), until) : startNew,
        }),
      }),
    isDone(found) {
      const { pauseAt, resumeAt } = plansOf(found)
      const isPaused = found.get('status') === 'paused'
      const isPlanned = at === 'period_end' && pauseAt !== null
      return (isPaused || isPlanned) && resumeAt?.getTime() === until?.getTime()
    },
  })
}

/**
 * Ends a pause, or takes back what is planned; where there is neither, there is nothing to ask for.
 * https://developer.paddle.com/api-reference/subscriptions/resume-subscription
 */
export const resumeSubscription: Operation<'resume'> = async (request, context) => {
  const { reference } = request
  await wish(request, context, {
    async ask(api, path) {
      const found = await api.get('subscriptions', reference)
      if (found !== undefined && isAsResumed(found)) return undefined
      if (found !== undefined && found.get('status') !== 'paused') {
        return api.patch('subscriptions', reference, { scheduled_change: null })
      }
      return api.post(`${path}/resume`, {
        effective_from: 'immediately',
        on_resume: await onResume(api, found, context.now),
      })
    },
    isDone: isAsResumed,
  })
}

/** What has ended cannot be resumed: Paddle says so. */
function isAsResumed(found: JsonObject): boolean {
  const isOver = found.get('status') === 'paused' || found.get('status') === 'canceled'
  return !isOver && !isJsonObject(found.get('scheduled_change'))
}

const startNew = 'start_new_billing_period'
const continueOld = 'continue_existing_billing_period'

/**
 * Paid time stays usable: then the old period goes on, and nothing is charged. Otherwise a new one
 * begins, and is charged at once: also where the old one was never paid, as after the last retry.
 */
async function onResume(
  api: PaddleApi,
  subscription: JsonObject | undefined,
  at: Date,
): Promise<string> {
  const id = subscription?.get('id')
  if (subscription === undefined || !isId(id, 'sub_')) return startNew
  const end = paidUntil({ subscription, charges: await newestCharges(api, id) })
  return end !== undefined && at < end ? continueOld : startNew
}

function effectiveFrom(at: 'period_end' | 'now'): string {
  return at === 'now' ? 'immediately' : 'next_billing_period'
}

interface Wish {
  /** Undefined: there is nothing to ask for. */
  ask(api: PaddleApi, path: string): Promise<JsonObject | undefined>
  /** Whether a subscription is as wished. */
  isDone(subscription: JsonObject): boolean
}

async function wish(
  { reference }: SubscriptionWishRequest,
  context: OperationContext,
  { ask, isDone }: Wish,
): Promise<void> {
  const api = requirePaddleApi(context)
  if (!isId(reference, 'sub_')) throw unknownSubscription()
  const path = `subscriptions/${reference}`
  try {
    const reply = await ask(api, path)
    if (reply !== undefined && reply.get('id') !== reference) throw replyInvalid(`POST /${path}`)
  } catch (error) {
    if (!isRefusal(error)) throw error
    // Whatever becomes of this look-up: nothing was done.
    const found = await api.get('subscriptions', reference).catch(() => undefined)
    if (found === undefined || !isDone(found)) throw withFix(error)
    context.log.info({ code: error.providerCode }, 'Paddle has done before what was wished')
  }
}

function isRefusal(error: unknown): error is QuittanceError {
  return isQuittanceError(error) && error.code === 'provider_refused'
}

function unknownSubscription(): QuittanceError {
  const text = 'Paddle has no subscription of this name'
  return new QuittanceError('provider_refused', text, { providerCode: 'not_found' })
}

const soonRenewed = 'Paddle changes nothing in the half hour before a renewal: try again after it.'

/** https://developer.paddle.com/errors/overview */
const fixes: ReadonlyMap<string | undefined, string> = new Map([
  [
    'subscription_locked_pending_changes',
    'Something else is planned for it: resume the subscription, which takes that back, or ask for this at once.',
  ],
  ['subscription_locked_renewal', soonRenewed],
  ['subscription_locked_processing', soonRenewed],
  [
    'subscription_update_when_past_due',
    'Paddle changes no subscription that is past due: its payer has to pay, or cancel it.',
  ],
])

function withFix(error: QuittanceError): QuittanceError {
  const { code, message, providerCode } = error
  const fix = fixes.get(providerCode)
  return fix === undefined ? error : new QuittanceError(code, message, { fix, providerCode })
}
