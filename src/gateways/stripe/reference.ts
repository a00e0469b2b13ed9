import { isUuid } from '../../kernel/ids.ts'
import { ignored, type IgnoredOutcome } from '../../payments/outcome.ts'
import { path, type JsonObject, type JsonValue } from '../body/json.ts'
import { detail } from '../detail.ts'

export type ReferenceResult =
  | { readonly ok: true; readonly paymentId: string }
  | { readonly ok: false; readonly outcome: IgnoredOutcome }

/**
 * Our payment's id: `metadata.payment_id`, else `client_reference_id` (Checkout Sessions only), else
 * that of the payment it was fetched for. An event's object without either was not made for one of
 * our payments, e.g. an invoice's intent.
 */
export function readReference(object: JsonObject, fetchedFor?: string): ReferenceResult {
  const known = fetchedFor === undefined ? undefined : toReference(fetchedFor)
  return statedReference(object) ?? known ?? noReference
}

/** The reference that an object carries; undefined where the object carries neither. */
export function statedReference(object: JsonObject): ReferenceResult | undefined {
  const metadata = given(path(object, 'metadata', 'payment_id'))
  const client = given(object.get('client_reference_id'))
  const reference = metadata ?? client
  if (reference === undefined) return undefined
  if (client !== undefined && client !== reference && isUuid(reference)) {
    const disagreement = 'metadata.payment_id and client_reference_id disagree'
    return refused(ignored('invalid_reference', disagreement))
  }
  return toReference(reference)
}

/** The subscription's metadata as the invoice keeps them, or the invoice's own. */
const invoiceMetadata: readonly (readonly string[])[] = [
  ['parent', 'subscription_details', 'metadata'],
  ['subscription_details', 'metadata'],
  ['metadata'],
]

/** The payment that the subscription of an invoice began with, in each layout that Stripe has had. */
export function readInvoiceReference(invoice: JsonObject): ReferenceResult {
  const reference = invoiceMetadata
    .map((keys) => given(path(invoice, ...keys, 'payment_id')))
    .find((found) => found !== undefined)
  return reference === undefined ? noReference : toReference(reference)
}

const noReference = refused(ignored('no_outcome', 'no payment reference'))

function toReference(reference: JsonValue): ReferenceResult {
  return isUuid(reference)
    ? { ok: true, paymentId: reference }
    : refused(ignored('invalid_reference', shown(reference)))
}

function given(value: JsonValue | undefined): JsonValue | undefined {
  return value === null ? undefined : value
}

function shown(reference: JsonValue): string {
  return typeof reference === 'string' ? detail(reference) : 'not a text'
}

function refused(outcome: IgnoredOutcome): ReferenceResult {
  return { ok: false, outcome }
}
