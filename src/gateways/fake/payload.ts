import { path, isJsonObject } from '../body/json.ts'
import type { Payload } from '../body/payload.ts'

export type FakeResult = 'success' | 'failure'

type Field = 'body' | 'payment_id' | 'result' | 'card' | 'code'

/** The fields of a callback, or the name of the first one that is wrong. */
export type FakeCallback =
  | {
      readonly ok: true
      readonly paymentId: string
      readonly result: FakeResult
      /** The test card that is saved with it. */
      readonly card: string | undefined
      /** Why it fails. */
      readonly code: string | undefined
    }
  | { readonly ok: false; readonly malformed: Field }

/** Checks only that fields have their type: a `payment_id` that is no UUID is handled later. */
export function readFakeCallback(payload: Payload): FakeCallback {
  if (payload.kind !== 'json' || !isJsonObject(payload.value)) return malformed('body')
  const paymentId = path(payload.value, 'payment_id')
  if (typeof paymentId !== 'string') return malformed('payment_id')
  const result = path(payload.value, 'result')
  if (result !== 'success' && result !== 'failure') return malformed('result')
  const card = path(payload.value, 'card')
  if (card !== undefined && typeof card !== 'string') return malformed('card')
  const code = path(payload.value, 'code')
  if (code !== undefined && typeof code !== 'string') return malformed('code')
  return { ok: true, paymentId, result, card, code }
}

function malformed(field: Field): FakeCallback {
  return { ok: false, malformed: field }
}
