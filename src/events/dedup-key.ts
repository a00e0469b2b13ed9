import type { PaymentOutcome } from '../payments/outcome.ts'
import type { EventType } from './catalogue.ts'

/**
 * The claim of a payment's outcome: `payment:paid:<payment id>`. The reference is our own id, so
 * that a webhook, a poll and a replay of the same fact meet in one key. Nothing unsigned is in it.
 */
export function paymentDedupKey(status: PaymentOutcome['status'], paymentId: string): string {
  return `payment:${status}:${paymentId}`
}

const eventOfStatus = {
  paid: 'PaymentSucceeded',
  failed: 'PaymentFailed',
  canceled: 'PaymentCanceled',
} as const satisfies Record<PaymentOutcome['status'], EventType>

export function paymentEventType(status: PaymentOutcome['status']): EventType {
  return eventOfStatus[status]
}
