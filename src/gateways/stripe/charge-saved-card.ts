import type { Outcome } from '../../payments/outcome.ts'
import type { Payment } from '../../payments/payment.ts'
import { isJsonObject } from '../body/json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { ChargeReply, ChargeRequest } from '../operations.ts'
import { describe } from './checkout.ts'
import { withCode } from './declines.ts'
import { clientFor, fetchedFor, isOf, modeOf } from './fetched.ts'
import { findCharged } from './find-handed.ts'
import { intentFailed } from './read-intent.ts'
import { isId } from './payload.ts'
import { intentNow, redirectOf } from './poll-intent.ts'
import { notAskedFor, type Form, type StripeReply } from './api-change.ts'

const path = 'v1/payment_intents'

/**
 * Makes an intent and confirms it at once. A declined card is an answer, not an error: the intent
 * exists and has failed, or the card was declined before there was one.
 * https://docs.stripe.com/api/payment_intents/create
 */
export async function chargeSavedCard(
  request: ChargeRequest,
  context: OperationContext,
): Promise<ChargeReply> {
  const { payment } = request
  const reply = await chargeOnce(request, context)
  const intent = reply.kind === 'done' ? reply.object : reply.error.get('payment_intent')
  if (!isJsonObject(intent)) {
    const error = reply.kind === 'declined' ? reply.error : null
    return { outcomes: [withCode(declinedAtOnce(payment), error)] }
  }
  const providerReference = intent.get('id')
  if (!isId(providerReference, 'pi_') || !isOf(payment, intent)) throw notAskedFor(`POST /${path}`)
  const snapshot = fetchedFor(payment, intent)
  // The error says why; its intent may say that of an earlier try.
  const outcome =
    reply.kind === 'declined'
      ? withCode(intentFailed(snapshot), reply.error)
      : intentNow(snapshot, intent)
  const redirectUrl = redirectOf(intent)
  return {
    outcomes: [outcome],
    providerReference,
    ...(redirectUrl !== undefined && { redirectUrl }),
    ...modeOf(intent),
  }
}

async function chargeOnce(request: ChargeRequest, context: OperationContext): Promise<StripeReply> {
  const { payment, method } = request
  const client = clientFor(payment, context)
  const { customerReference: customer } = method
  const found =
    customer === null
      ? undefined
      : await findCharged(payment, { api: client, customer, now: context.now })
  if (found !== undefined) return { kind: 'done', object: found }
  return client.send({
    method: 'post',
    path,
    form: chargeForm(request),
    idempotencyKey: `charge:${payment.id}`,
  })
}

function declinedAtOnce({ id, merchantAccount }: Payment): Outcome {
  const failed = { type: 'payment', payment: { id }, status: 'failed' } as const
  return { ...failed, ...(merchantAccount !== null && { merchantAccount }) }
}

function chargeForm({ payment, method, returnUrl, initiatedBy }: ChargeRequest): Form {
  const { customerReference, providerReference } = method
  return {
    amount: payment.amount.toString(),
    currency: payment.currency.toLowerCase(),
    // Stripe refuses a saved card without its customer, in its own words.
    ...(customerReference !== null && { customer: customerReference }),
    payment_method: providerReference,
    confirm: 'true',
    description: describe(payment),
    return_url: returnUrl,
    'metadata[payment_id]': payment.id,
    // The payer is not there: a bank that needs the payer's confirmation declines.
    ...(initiatedBy === 'merchant' && { off_session: 'true' }),
  }
}
