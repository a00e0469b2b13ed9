import {
  ignored,
  type Outcome,
  type PaymentMethodOutcome,
  type PaymentReference,
} from '../../payments/outcome.ts'
import type { PaymentMethodDetails } from '../../payments/payment-method.ts'
import { isJsonObject, numberTextOf, path, type JsonObject, type JsonValue } from '../body/json.ts'
import type { LookUps } from './api.ts'
import { customerOf } from './fields.ts'
import { findSavingPayment } from './find-saving-payment.ts'
import { accountStatement, isId, readObject, type Snapshot, type StripeEvent } from './payload.ts'
import { statedReference } from './reference.ts'

/** Cards and sources of Stripe's older interfaces keep their ids as payment methods. */
export const methodPrefixes = ['pm_', 'card_', 'src_', 'ba_'] as const

/** https://docs.stripe.com/api/payment_methods/object */
export async function methodAttached(
  event: StripeEvent,
  lookUps: LookUps,
): Promise<readonly Outcome[]> {
  const read = readObject(event, 'payment_method', ...methodPrefixes)
  if ('malformed' in read) return [ignored('malformed_payload', read.malformed, { money: false })]
  const { object: method, id } = read
  const reference = statedReference(method)
  if (reference?.ok === false) return [reference.outcome]
  const payment = reference
    ? { id: reference.paymentId }
    : await findSavingPayment(event, { id, method }, lookUps)
  const details = methodDetails(method)
  return [attached(event, { id, details, customer: method.get('customer'), payment })]
}

/** Only the previous values name the former owner. */
export function methodDetached(event: StripeEvent): Outcome {
  const read = readObject(event, 'payment_method', ...methodPrefixes)
  if ('malformed' in read) return ignored('malformed_payload', read.malformed, { money: false })
  const customerReference = customerOf(event.previous?.get('customer'))
  return {
    type: 'payment_method',
    status: 'detached',
    reference: read.id,
    ...accountStatement(event),
    ...(customerReference !== undefined && { customerReference }),
    ...detailsIfAny(methodDetails(read.object)),
  }
}

interface Attachment {
  readonly id: string
  readonly details: PaymentMethodDetails
  readonly customer: JsonValue | undefined
  readonly payment: PaymentReference | undefined
}

/** What was saved, and the payment with which it was saved. */
export function attached(snapshot: Snapshot, attachment: Attachment): PaymentMethodOutcome {
  const { id, details, customer, payment } = attachment
  const customerReference = customerOf(customer)
  return {
    type: 'payment_method',
    status: 'attached',
    reference: id,
    ...accountStatement(snapshot),
    ...(payment !== undefined && { payment }),
    ...(customerReference !== undefined && { customerReference }),
    ...detailsIfAny(details),
  }
}

function detailsIfAny(details: PaymentMethodDetails): { readonly details?: PaymentMethodDetails } {
  return Object.keys(details).length === 0 ? {} : { details }
}

/** An expanded payment method; undefined for a mere id and for anything else. */
export function expandedMethod(
  value: JsonValue | undefined,
): { readonly id: string; readonly method: JsonObject } | undefined {
  if (!isJsonObject(value)) return undefined
  const id = value.get('id')
  return isId(id, ...methodPrefixes) ? { id, method: value } : undefined
}

const word = /^[a-z0-9_]{1,64}$/
const fourDigits = /^\d{4}$/
const month = /^(?:[1-9]|1[0-2])$/

/** What may be shown of it; only values that are worded as Stripe words them. */
export function methodDetails(method: JsonObject): PaymentMethodDetails {
  const type = matching(method.get('type'), word)
  if (type === undefined) return {}
  const own = (field: string) => path(method, type, field)
  const kind = matching(path(own('wallet') ?? null, 'type'), word) ?? type
  const brand = matching(own('brand'), word)
  const lastFour = matching(own('last4'), fourDigits)
  const expiryMonth = matching(numberTextOf(own('exp_month')), month)
  const expiryYear = matching(numberTextOf(own('exp_year')), fourDigits)
  return {
    kind,
    ...(brand !== undefined && { brand }),
    ...(lastFour !== undefined && { lastFour }),
    ...(expiryMonth !== undefined && { expiryMonth: Number(expiryMonth) }),
    ...(expiryYear !== undefined && { expiryYear: Number(expiryYear) }),
  }
}

function matching(value: JsonValue | undefined, grammar: RegExp): string | undefined {
  return typeof value === 'string' && grammar.test(value) ? value : undefined
}
