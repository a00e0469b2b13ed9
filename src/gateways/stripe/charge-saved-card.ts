import { isJsonObject, type JsonObject } from '../body/json.ts'
import type { ChargeReply, ChargeRequest, OperationContext } from '../operations.ts'
import { describe } from './checkout.ts'
import { clientFor, fetchedFor, isOf, modeOf } from './fetched.ts'
import { intentFailed } from './read-intent.ts'
import { isId } from './payload.ts'
import { intentNow, redirectOf } from './poll-intent.ts'
import { notAskedFor, refusal, type Form, type StripeReply } from './api-change.ts'

const path = 'v1/payment_intents'

/**
 * Makes an intent and confirms it at once. A declined card is an answer, not an error: the intent
 * exists and has failed. https://docs.stripe.com/api/payment_intents/create
 */
export async function chargeSavedCard(
  request: ChargeRequest,
  context: OperationContext,
): Promise<ChargeReply> {
  const { payment } = request
  const reply = await clientFor(payment, context).send({
    method: 'post',
    path,
    form: chargeForm(request),
    idempotencyKey: `charge:${payment.id}`,
  })
  const intent = intentOf(reply)
  const providerReference = intent.get('id')
  if (!isId(providerReference, 'pi_') || !isOf(payment, intent)) throw notAskedFor(`POST /${path}`)
  const snapshot = fetchedFor(payment, intent)
  const declined = reply.kind === 'declined'
  const redirectUrl = redirectOf(intent)
  return {
    outcomes: [declined ? intentFailed(snapshot) : intentNow(snapshot, intent)],
    providerReference,
    ...(redirectUrl !== undefined && { redirectUrl }),
    ...modeOf(intent),
  }
}

/** Error: `provider_refused` for a card that was declined before there was an intent. */
function intentOf(reply: StripeReply): JsonObject {
  if (reply.kind === 'done') return reply.object
  const intent = reply.error.get('payment_intent')
  if (isJsonObject(intent)) return intent
  throw refusal(`POST /${path}`, reply.error)
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
