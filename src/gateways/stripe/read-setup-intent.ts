import { ignored, type Outcome } from '../../payments/outcome.ts'
import type { JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { LookUps, StripeApi } from './api.ts'
import { shownField } from './fields.ts'
import { isId, readObject, type Snapshot, type StripeEvent } from './payload.ts'
import { attached, expandedMethod, methodDetails, methodPrefixes } from './read-payment-method.ts'
import { namedReference } from './reference.ts'

/**
 * It names the card only by its id. Without the API, or while the API does not answer, the card is
 * known without its details, which `payment_method.attached` brings.
 * https://docs.stripe.com/api/setup_intents/object
 */
export async function setupSucceeded(
  event: StripeEvent,
  { api, log }: LookUps,
): Promise<readonly Outcome[]> {
  const read = readObject(event, 'setup_intent', 'seti_')
  if ('malformed' in read) return [ignored('malformed_payload', read.malformed, { money: false })]
  const { object: setup, id } = read
  const named = savedBy(event, setup, setup)
  if (api === undefined || named.type === 'ignored') return [named]
  try {
    const expanded = await setupWithMethod(api, id)
    return [expanded === undefined ? named : savedBy(event, setup, expanded)]
  } catch (error) {
    log.warn({ err: error, event: event.id }, 'the card is saved, its details are not known')
    return [named]
  }
}

/** A checkout that saves a card and takes no money: only its intent names the card. */
export async function setupSession(
  snapshot: Snapshot,
  { api, noKey }: LookUps,
): Promise<readonly Outcome[]> {
  const read = readObject(snapshot, 'checkout.session', 'cs_')
  if ('malformed' in read) return [ignored('malformed_payload', read.malformed, { money: false })]
  const id = read.object.get('setup_intent')
  if (!isId(id, 'seti_')) {
    return [ignored('malformed_payload', 'data.object.setup_intent', { money: false })]
  }
  const reference = namedReference(read.object)
  if (reference?.ok === false) return [reference.outcome]
  if (api === undefined) return [ignored('no_outcome', `mode setup: ${noKey}`)]
  const setup = await setupWithMethod(api, id)
  if (setup === undefined) return [ignored('no_outcome', `${id} not found`)]
  return [savedBy(snapshot, read.object, setup)]
}

/**
 * What the setup saved, as far as it names it; `stated` carries our reference. No Stripe link
 * begins a checkout that only saves a card, so our server wrote whatever names a payment there.
 */
function savedBy(snapshot: Snapshot, stated: JsonObject, setup: JsonObject): Outcome {
  const reference = namedReference(stated)
  if (reference?.ok === false) return reference.outcome
  if (setup.get('status') !== 'succeeded') {
    return ignored('no_outcome', detail(`setup ${shownField(setup, 'status')}`))
  }
  const value = setup.get('payment_method')
  const expanded = expandedMethod(value)
  const id = expanded?.id ?? value
  if (!isId(id, ...methodPrefixes)) {
    return ignored('malformed_payload', 'payment_method', { money: false })
  }
  return attached(snapshot, {
    id,
    details: expanded === undefined ? {} : methodDetails(expanded.method),
    customer: expanded?.method.get('customer') ?? setup.get('customer'),
    payment: reference && { id: reference.paymentId },
  })
}

function setupWithMethod(api: StripeApi, id: string) {
  return api.get(`v1/setup_intents/${id}`, { 'expand[]': 'payment_method' })
}
