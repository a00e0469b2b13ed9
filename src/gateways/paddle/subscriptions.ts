import { isQuittanceError, QuittanceError } from '../../kernel/errors.ts'
import type { Outcome } from '../../payments/outcome.ts'
import { isJsonObject, type JsonObject } from '../body/json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type {
  SubscriptionOperations,
  SubscriptionReply,
  SubscriptionRequest,
  SubscriptionWishRequest,
} from '../subscription-operations.ts'
import { replyInvalid, requirePaddleApi, type PaddleApi } from './api.ts'
import { claimIn, isId } from './payload.ts'
import { isFirstCharge } from './read-charges.ts'
import { readInvoice } from './read-invoice.ts'
import { paidUntil, plansOf, statementOf, type SubscriptionAnswer } from './read-subscription.ts'
import { eventTypeOf, readTransaction } from './read-transaction.ts'

/**
 * Subscriptions that Paddle manages. A period of every length that we know can be one of Paddle's: up
 * to 999 days, weeks, months or years.
 * https://developer.paddle.com/errors/prices/price_billing_cycle_frequency_greater_than_maximum
 */
export const paddleSubscriptions: SubscriptionOperations = {
  read: readManaged,
  cancel: cancelSubscription,
  pause: pauseSubscription,
  resume: resumeSubscription,
}

/**
 * The subscription first, then its transactions: money that was taken in between is reported, and a
 * statement that is older than it changes less than it might.
 */
async function readManaged(
  { reference }: SubscriptionRequest,
  context: OperationContext,
): Promise<SubscriptionReply | undefined> {
  const api = requirePaddleApi(context)
  // Paddle has none of another name.
  if (!isId(reference, 'sub_')) return undefined
  const subscription = await api.get('subscriptions', reference, 'recurring_transaction_details')
  if (subscription === undefined) return undefined
  const charges = await newestCharges(api, reference)
  const first = await firstCharge(api, reference, charges)
  const answer = { subscription, charges, first }
  const statement = statementOf(answer)
  if (statement === undefined) throw replyInvalid(`GET /subscriptions/${reference}`)
  return { statement, outcomes: await outcomesOf(answer) }
}

/** What its transactions say, oldest first, and the documents of those that have one. */
async function outcomesOf({
  subscription,
  charges,
  first,
}: SubscriptionAnswer): Promise<readonly Outcome[]> {
  const all = first === undefined || charges.includes(first) ? charges : [...charges, first]
  const outcomes: Outcome[] = []
  for (const charge of all.toReversed()) {
    const outcome = await readTransaction({ type: eventTypeOf(charge), data: charge }, undefined)
    if (outcome.type === 'payment') outcomes.push(claiming(outcome, subscription))
    const invoice = readInvoice(charge)
    if (invoice !== undefined) outcomes.push(invoice)
  }
  return outcomes
}

/** A renewal without custom data claims what its subscription does, as when it is reported. */
function claiming(
  outcome: Extract<Outcome, { type: 'payment' }>,
  subscription: JsonObject,
): Outcome {
  if (outcome.renews === undefined || outcome.claimed !== undefined) return outcome
  const claimed = claimIn(subscription)
  return claimed === undefined ? outcome : { ...outcome, claimed }
}

/** The limit of this list. */
const mostPerPage = '30'

/**
 * The newest transactions of a subscription, the newest one first. More would be of no use: a
 * subscription is looked at every week, and backfill lists what was missed for longer.
 * https://developer.paddle.com/api-reference/transactions/list-transactions
 */
function newestCharges(api: PaddleApi, id: string): Promise<readonly JsonObject[]> {
  return firstPage(api, id, { order_by: 'id[DESC]', per_page: mostPerPage })
}

/** The transaction that the subscription began with. One that was imported has none. */
async function firstCharge(
  api: PaddleApi,
  id: string,
  charges: readonly JsonObject[],
): Promise<JsonObject | undefined> {
  const known = charges.findLast(isFirstCharge)
  if (known !== undefined) return known
  const query = { origin: 'web,api', order_by: 'id[ASC]', per_page: '1' }
  return (await firstPage(api, id, query)).find(isFirstCharge)
}

async function firstPage(
  api: PaddleApi,
  id: string,
  query: Readonly<Record<string, string>>,
): Promise<readonly JsonObject[]> {
  for await (const page of api.list('transactions', { subscription_id: id, ...query })) {
    const isStranger = (one: JsonObject) => one.get('subscription_id') !== id
    if (page.some(isStranger)) throw replyInvalid('GET /transactions')
    return page
  }
  return []
}

// Paddle has no idempotency keys: a wish is one request that changes something, never repeated.
// What was wished before is refused, which is looked into: if all is as wished, it is done.

type Wished<Name extends 'cancel' | 'pause' | 'resume'> = Parameters<
  NonNullable<SubscriptionOperations[Name]>
>[0]

/**
 * A paused one is canceled at once, whatever is asked for.
 * https://developer.paddle.com/api-reference/subscriptions/cancel-subscription
 */
export async function cancelSubscription(
  request: Wished<'cancel'>,
  context: OperationContext,
): Promise<void> {
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
export async function pauseSubscription(
  request: Wished<'pause'>,
  context: OperationContext,
): Promise<void> {
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
export async function resumeSubscription(
  request: Wished<'resume'>,
  context: OperationContext,
): Promise<void> {
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
