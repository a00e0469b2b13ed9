import { path, isJsonObject } from '../body/json.ts'
import type { Payload } from '../body/payload.ts'

export type FakeResult = 'success' | 'failure'

/** The fields of a callback, or the name of the first one that is wrong. */
export type FakeCallback =
  | { readonly ok: true; readonly paymentId: string; readonly result: FakeResult }
  | { readonly ok: false; readonly malformed: 'body' | 'payment_id' | 'result' }

/** Checks only that fields have their type: a `payment_id` that is no UUID is handled later. */
export function readFakeCallback(payload: Payload): FakeCallback {
  if (payload.kind !== 'json' || !isJsonObject(payload.value)) return malformed('body')
  const paymentId = path(payload.value, 'payment_id')
  if (typeof paymentId !== 'string') return malformed('payment_id')
  const result = path(payload.value, 'result')
  if (result !== 'success' && result !== 'failure') return malformed('result')
  return { ok: true, paymentId, result }
}

function malformed(field: 'body' | 'payment_id' | 'result'): FakeCallback {
  return { ok: false, malformed: field }
}
