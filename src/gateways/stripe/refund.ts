import { QuittanceError } from '../../kernel/errors.ts'
import type { Payment } from '../../payments/payment.ts'
import { path, textOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { RefundReply, RefundRequest } from '../operations.ts'
import type { StripeApi } from './api.ts'
import { amountOf } from './fields.ts'
import { clientFor, fetchedFor, isOf } from './fetched.ts'
import { payingIntents } from './read-invoice.ts'
import { isId } from './payload.ts'
import { refundOutcome } from './read-refund.ts'
import { done, notAskedFor, type Form } from './api-change.ts'

/** https://docs.stripe.com/api/refunds/create */
export async function refundCharge(
  request: RefundRequest,
  context: OperationContext,
): Promise<RefundReply> {
  const { payment, refund } = request
  const client = clientFor(payment, context)
  const intent = await intentOf(payment, client)
  const object = await done(
    client.send({
      method: 'post',
      path: 'v1/refunds',
      form: refundForm(request, intent),
      idempotencyKey: `refund:${refund.id}`,
    }),
  )
  const isSame =
    object.get('payment_intent') === intent &&
    amountOf(object, 'amount') === refund.amount &&
    path(object, 'metadata', 'refund_id') === refund.id &&
    isOf(payment, object)
  if (!isSame) throw notAskedFor('POST /v1/refunds')
  return toReply(payment, object)
}

function refundForm({ payment, refund, reason }: RefundRequest, intent: string): Form {
  return {
    payment_intent: intent,
    amount: refund.amount.toString(),
    'metadata[payment_id]': payment.id,
    'metadata[refund_id]': refund.id,
    ...reasonFields(reason?.trim() ?? ''),
  }
}

/** The reasons that Stripe knows; `fraudulent` also puts the card on its block list. */
const reasons: ReadonlySet<string> = new Set(['duplicate', 'fraudulent', 'requested_by_customer'])
/** The longest value in metadata. */
const longestValue = 500

function reasonFields(reason: string): Form {
  if (reason === '') return {}
  if (reasons.has(reason)) return { reason }
  return { 'metadata[reason]': Array.from(reason).slice(0, longestValue).join('') }
}

/** The intent that was paid: the money goes back the same way. */
async function intentOf(payment: Payment, api: StripeApi): Promise<string> {
  const { providerReference, checkoutReference } = payment
  if (isId(providerReference, 'pi_')) return providerReference
  if (isId(providerReference, 'in_')) return onlyOne(await payingIntents(providerReference, api))
  if (!isId(checkoutReference, 'cs_')) return onlyOne([])
  const session = await api.get(`v1/checkout/sessions/${checkoutReference}`)
  const intent = session?.get('payment_intent')
  return onlyOne(isId(intent, 'pi_') ? [intent] : [])
}

function onlyOne(intents: readonly string[] | undefined): string {
  const [intent, ...others] = intents ?? []
  if (intent !== undefined && others.length === 0) return intent
  const what = intent === undefined ? 'no payment intent' : 'several payment intents'
  throw new QuittanceError('provider_refused', `Stripe knows ${what} that paid this payment`, {
    fix: "Refund it in Stripe's dashboard.",
  })
}

function toReply(payment: Payment, object: JsonObject): RefundReply {
  const found = { ok: true, payment: { id: payment.id } } as const
  const outcome = refundOutcome(fetchedFor(payment, object), object, found)
  if (outcome.type !== 'refund' || !('refundReference' in outcome)) {
    throw notAskedFor('POST /v1/refunds')
  }
  const { status, refundReference: reference } = outcome
  const code = textOf(object.get('failure_reason'))
  if (status === 'paid' || status === 'pending') return { status, reference }
  return { status: 'failed', reference, ...(code !== undefined && { code: detail(code) }) }
}
