import { isUuid } from '../../kernel/ids.ts'
import { ignored, type IgnoredOutcome } from '../../payments/outcome.ts'
import { path, type JsonObject, type JsonValue } from '../body/json.ts'
import { detail } from '../detail.ts'

export type ReferenceResult =
  | { readonly ok: true; readonly paymentId: string }
  | { readonly ok: false; readonly outcome: IgnoredOutcome }

/**
 * Our payment's id: `metadata.payment_id`, else `client_reference_id` (Checkout Sessions only).
 * An object without either was not made for one of our payments, e.g. an invoice's intent.
 */
export function readReference(object: JsonObject): ReferenceResult {
  const metadata = given(path(object, 'metadata', 'payment_id'))
  const client = given(object.get('client_reference_id'))
  const reference = metadata ?? client
  if (reference === undefined) return refused(ignored('no_outcome', 'no payment reference'))
  if (!isUuid(reference)) return refused(ignored('invalid_reference', shown(reference)))
  if (client !== undefined && client !== reference) {
    const disagreement = 'metadata.payment_id and client_reference_id disagree'
    return refused(ignored('invalid_reference', disagreement))
  }
  return { ok: true, paymentId: reference }
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
