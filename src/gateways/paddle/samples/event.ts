import { createHash } from 'node:crypto'
import type { SignInput } from '../../gateway.ts'

/** What all sample entities are made of. */
export interface SampleInput {
  readonly paymentId: string
  readonly amount: bigint
  readonly currency: string
  /** The transaction of the checkout. */
  readonly transactionId: string
  /** RFC 3339. */
  readonly occurredAt: string
}

export function sampleInput({ payment, now }: SignInput): SampleInput {
  return {
    paymentId: payment.id,
    amount: payment.amount,
    currency: payment.currency,
    transactionId: payment.checkoutReference ?? sampleTransactionId(payment.id),
    occurredAt: now.toISOString(),
  }
}

/** The transaction of a payment that has none stored. */
export function sampleTransactionId(paymentId: string): string {
  return sampleId('txn', paymentId)
}

/**
 * An id that looks like Paddle's. It is derived from the payment's, so that several callbacks about
 * one payment (a refund that waits, then its approval) agree; `purpose` distinguishes two of one
 * kind.
 */
export function sampleId(prefix: string, paymentId: string, purpose = ''): string {
  const digest = createHash('sha256').update(`${prefix} ${paymentId} ${purpose}`).digest('hex')
  return `${prefix}_${digest.slice(0, 26)}`
}

/** The notification around an entity: compact, with its keys in Paddle's order. */
export function sampleEvent(input: SignInput, type: string, entity: object): string {
  return JSON.stringify({
    data: entity,
    event_id: sampleId('evt', input.newId()),
    event_type: type,
    occurred_at: input.now.toISOString(),
    notification_id: sampleId('ntf', input.newId()),
  })
}
