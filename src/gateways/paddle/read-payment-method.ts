import { ignored, type Outcome, type PaymentMethodOutcome } from '../../payments/outcome.ts'
import type { PaymentMethodDetails } from '../../payments/payment-method.ts'
import { numberTextOf, path, textOf, type JsonObject, type JsonValue } from '../body/json.ts'
import type { PaddleApi } from './api.ts'
import { isId, readEntity, type PaddleEvent } from './payload.ts'

/** The event says only that it is a card; the API has the rest. */
export async function cardSaved(event: PaddleEvent, api: PaddleApi | undefined): Promise<Outcome> {
  const outcome = statedOutcome(event, 'attached')
  if (outcome.type === 'ignored' || outcome.customerReference === undefined) return outcome
  const { customerReference, reference } = outcome
  const method = await api?.get(`customers/${customerReference}/payment-methods`, reference)
  return method === undefined ? outcome : { ...outcome, details: detailsOf(method) }
}

export function cardDeleted(event: PaddleEvent): Outcome {
  return statedOutcome(event, 'detached')
}

function statedOutcome(
  event: PaddleEvent,
  status: PaymentMethodOutcome['status'],
): PaymentMethodOutcome | Extract<Outcome, { type: 'ignored' }> {
  const read = readEntity(event, 'paymtd_')
  if (!read.ok) return read.outcome
  const customerReference = read.entity.get('customer_id')
  if (!isId(customerReference, 'ctm_')) {
    return ignored('malformed_payload', 'data.customer_id', { money: false })
  }
  const details = detailsOf(read.entity)
  return { type: 'payment_method', status, reference: read.id, customerReference, details }
}

const word = /^[a-z_]{1,40}$/
const fourDigits = /^\d{4}$/
const month = /^(?:[1-9]|1[0-2])$/

/** https://developer.paddle.com/api-reference/payment-methods/overview */
function detailsOf(method: JsonObject): PaymentMethodDetails {
  const kind = matching(word, textOf(method.get('type')))
  const brand = matching(word, textOf(cardField(method, 'type')))
  const lastFour = matching(fourDigits, textOf(cardField(method, 'last4')))
  const expiryMonth = matching(month, numberTextOf(cardField(method, 'expiry_month')))
  const expiryYear = matching(fourDigits, numberTextOf(cardField(method, 'expiry_year')))
  return {
    ...(kind !== undefined && { kind }),
    ...(brand !== undefined && brand !== 'unknown' && { brand }),
    ...(lastFour !== undefined && { lastFour }),
    ...(expiryMonth !== undefined && { expiryMonth: Number(expiryMonth) }),
    ...(expiryYear !== undefined && { expiryYear: Number(expiryYear) }),
  }
}

function cardField(method: JsonObject, field: string): JsonValue | undefined {
  return path(method, 'card', field)
}

function matching(grammar: RegExp, text: string | undefined): string | undefined {
  return text !== undefined && grammar.test(text) ? text : undefined
}
