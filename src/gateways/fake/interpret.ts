import { isUuid } from '../../kernel/ids.ts'
import { ignored, type Outcome } from '../../payments/outcome.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import { readFakeCallback } from './payload.ts'

/** What a fake callback states. It carries no amount: a success pays what was charged. */
export function interpretFake(payload: Payload): Outcome {
  const callback = readFakeCallback(payload)
  if (!callback.ok) return ignored('malformed_payload', callback.malformed)
  const { paymentId, result } = callback
  if (!isUuid(paymentId)) return ignored('invalid_reference', detail(paymentId))
  const payment = { id: paymentId }
  return result === 'success'
    ? { type: 'payment', payment, status: 'paid', amountIs: 'as_charged' }
    : { type: 'payment', payment, status: 'failed' }
}
