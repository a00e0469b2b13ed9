import { readUuid } from '../../kernel/uuid.ts'
import { ignored, type Outcome } from '../../payments/outcome.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import { readFakeCallback } from './payload.ts'
import { isTestCard, savedWith } from './test-card.ts'

/**
 * What a fake callback states. It carries no amount: a success pays what was charged, and may save
 * a card.
 */
export function interpretFake(payload: Payload): readonly Outcome[] {
  const callback = readFakeCallback(payload)
  if (!callback.ok) return [ignored('malformed_payload', callback.malformed)]
  const { result, card, code } = callback
  const paymentId = readUuid(callback.paymentId)
  if (paymentId === undefined) {
    return [ignored('invalid_reference', detail(callback.paymentId))]
  }
  const payment = { id: paymentId }
  if (result === 'failure') {
    const failed = { type: 'payment', payment, status: 'failed' } as const
    return [{ ...failed, ...(code !== undefined && { declineCode: code }) }]
  }
  const paid = { type: 'payment', payment, status: 'paid', amountIs: 'as_charged' } as const
  if (card === undefined) return [paid]
  return [paid, isTestCard(card) ? savedWith(paymentId, card) : noSuchCard(card)]
}

function noSuchCard(card: string): Outcome {
  return ignored('invalid_reference', detail(card), { money: false })
}
