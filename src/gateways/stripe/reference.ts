import { readUuid } from '../../kernel/uuid.ts'
import { ignored, type ClaimedReference, type IgnoredOutcome } from '../../payments/outcome.ts'
import { path, type JsonObject, type JsonValue } from '../body/json.ts'
import { detail } from '../detail.ts'

type Refused = { readonly ok: false; readonly outcome: IgnoredOutcome }

export type ReferenceResult = { readonly ok: true; readonly paymentId: string } | Refused

/**
 * Our payment's id in `metadata.payment_id`, which only the holder of a secret key can write;
 * undefined if there is none.
 */
export function statedReference(object: JsonObject): ReferenceResult | undefined {
  const reference = given(path(object, 'metadata', 'payment_id'))
  return reference === undefined ? undefined : toReference(reference)
}

/**
 * The same in a Checkout Session's `client_reference_id`, which the payer writes if a Payment Link
 * began the session: https://docs.stripe.com/payment-links/url-parameters
 */
export function claimIn(session: JsonObject): ClaimedReference | undefined {
  const reference = given(session.get('client_reference_id'))
  return reference === undefined ? undefined : { id: shown(reference), by: 'payer' }
}

/**
 * The payment that an object names, no matter who may have written it; undefined if it names none.
 */
export function namedReference(object: JsonObject): ReferenceResult | undefined {
  const client = given(object.get('client_reference_id'))
  return statedReference(object) ?? (client === undefined ? undefined : toReference(client))
}

/** The subscription's metadata as the invoice keeps them, or the invoice's own. */
const invoiceMetadata: readonly (readonly string[])[] = [
  ['parent', 'subscription_details', 'metadata'],
  ['subscription_details', 'metadata'],
  ['metadata'],
]

/**
 * The payment with which an invoice's subscription began, in every layout that Stripe has had;
 * undefined if none is named.
 */
export function invoiceReference(invoice: JsonObject): ReferenceResult | undefined {
  const reference = invoiceMetadata
    .map((keys) => given(path(invoice, ...keys, 'payment_id')))
    .find((found) => found !== undefined)
  return reference === undefined ? undefined : toReference(reference)
}

/** An object that was not made for one of our payments, e.g. an invoice's intent. */
export const noReference = refused(ignored('no_outcome', 'no payment reference'))

export function toReference(reference: JsonValue): ReferenceResult {
  const paymentId = readUuid(reference)
  return paymentId !== undefined
    ? { ok: true, paymentId }
    : refused(ignored('invalid_reference', shown(reference)))
}

function given(value: JsonValue | undefined): JsonValue | undefined {
  return value === null ? undefined : value
}

function shown(reference: JsonValue): string {
  return typeof reference === 'string' ? detail(reference) : 'not a text'
}

function refused(outcome: IgnoredOutcome): Refused {
  return { ok: false, outcome }
}
