import { ignored, type Outcome } from '../../payments/outcome.ts'
import type { Payment } from '../../payments/payment.ts'
import type { JsonObject } from '../body/json.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { PollReply, PollRequest } from '../operations.ts'
import { keyVariable, noKeyText, type LookUps, type StripeApi } from './api.ts'
import { clientFor, fetchedFor, refuseOther } from './fetched.ts'
import { findHanded } from './find-handed.ts'
import { isId } from './payload.ts'
import { pollIntent } from './poll-intent.ts'
import { pollInvoice } from './poll-invoice.ts'
import { pollSession } from './poll-session.ts'
import type { Polled } from './polled.ts'
import { statedReference } from './reference.ts'
import { refundOutcome } from './read-refund.ts'
import { notAskedFor } from './api-change.ts'

/** Fetches the checkout, intent or invoice by which a payment is known, and its refunds. */
export async function pollStripe(
  request: PollRequest,
  context: OperationContext,
): Promise<PollReply> {
  const { payment } = request
  const api = clientFor(payment, context)
  const known = knownPath(payment)
  const path = known ?? (await findPath(request, api))
  if (path === undefined) return absent
  const polled = await pollPath(path, { payment, api, context })
  const refunds = polled.intents && (await refundsOf(polled.intents, api))
  const ours = refunds?.filter((refund) => isOurs(payment, refund)) ?? []
  return {
    outcomes: [...polled.outcomes, ...ours.map((refund) => reported(payment, refund))],
    standing: polled.standing,
    // One that names another payment may be the very one that we requested.
    listsRefunds: refunds?.length === ours.length,
    ...(known === undefined && { checkout: polled.checkout }),
  }
}

const absent: PollReply = {
  outcomes: [ignored('no_outcome', 'Stripe has no checkout of this payment')],
  standing: 'absent',
  listsRefunds: false,
}

/** The checkout says more than its intent: it ends. */
function knownPath({ checkoutReference, providerReference }: Payment): string | undefined {
  const known = [
    { id: checkoutReference, prefix: 'cs_', path: 'v1/checkout/sessions' },
    { id: providerReference, prefix: 'pi_', path: 'v1/payment_intents' },
    { id: providerReference, prefix: 'in_', path: 'v1/invoices' },
  ].find(({ id, prefix }) => isId(id, prefix))
  return known && `${known.path}/${known.id}`
}

/** What Stripe may have made for a request that was never answered: an intent for a saved card. */
async function findPath(request: PollRequest, api: StripeApi): Promise<string | undefined> {
  const isCharge = request.payment.paymentMethodId !== null
  const listPath = isCharge ? 'v1/payment_intents' : 'v1/checkout/sessions'
  const id = (await findHanded(request, api, listPath))?.get('id')
  if (id === undefined) return undefined
  if (isId(id)) return `${listPath}/${id}`
  throw notAskedFor(`GET /${listPath}`)
}

interface PollContext {
  readonly payment: Payment
  readonly api: StripeApi
  readonly context: OperationContext
}

async function pollPath(path: string, { payment, api, context }: PollContext): Promise<Polled> {
  const isSession = path.startsWith('v1/checkout/sessions/')
  const object = await api.get(path, isSession ? { 'expand[]': 'payment_intent' } : {})
  if (object === undefined) throw missing(path, context)
  const snapshot = fetchedFor(payment, object)
  const lookUps: LookUps = { api, noKey: noKeyText(context), log: context.log }
  // An invoice carries the reference of the payment that its subscription began with.
  if (path.startsWith('v1/invoices/')) {
    return pollInvoice(snapshot, { invoice: object, api }, lookUps)
  }
  refuseOther(payment, object, `GET /${path}`)
  if (isSession) return pollSession(snapshot, object, lookUps)
  const polled = pollIntent(snapshot, object)
  // The charge of a saved card is on no page for another try.
  const [outcome] = polled.outcomes
  const isDeclined = outcome?.type === 'payment' && outcome.status === 'failed'
  return isDeclined && payment.paymentMethodId !== null ? { ...polled, standing: 'unpaid' } : polled
}

/** Stripe forgets nothing, so the account or the mode of the key must be wrong. */
function missing(path: string, context: OperationContext): QuittanceError {
  return new QuittanceError('provider_refused', `Stripe has no /${path}`, {
    fix: `Check that ${keyVariable(context)} belongs to the account that the payment was made in.`,
    providerCode: 'resource_missing',
  })
}

/**
 * Every refund of the intents that paid a payment, whether made by us, by hand or by another
 * system.
 */
async function refundsOf(
  intents: readonly string[],
  api: StripeApi,
): Promise<readonly JsonObject[]> {
  const lists = intents.map(async (intent) => {
    const refunds = await api.list('v1/refunds', { payment_intent: intent })
    if (refunds.every((refund) => refund.get('payment_intent') === intent)) return refunds
    throw notAskedFor('GET /v1/refunds')
  })
  return (await Promise.all(lists)).flat()
}

/** A refund that names another payment is reported to that payment by its event. */
function isOurs({ id }: Payment, refund: JsonObject): boolean {
  const stated = statedReference(refund)
  return stated === undefined || (stated.ok && stated.paymentId === id)
}

/** Refunds do not state their mode: it is that of their payment. */
function reported(payment: Payment, refund: JsonObject): Outcome {
  const found = { ok: true, payment: { id: payment.id } } as const
  return refundOutcome(fetchedFor(payment, refund), refund, found)
}
