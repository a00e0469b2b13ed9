import { assertNever } from '../kernel/errors.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { Outcome, PaymentOutcome } from '../payments/outcome.ts'
import type { PaymentMethod, PaymentMethodStatus } from '../payments/payment-method.ts'
import type { EventType } from './catalogue.ts'

/**
 * The claim of a payment's outcome: `payment:paid:<payment id>`. The reference is our own id, so
 * that a webhook, a poll and a replay of the same fact share one key. It contains nothing unsigned.
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

/** The claim of a refund: its row's id, however it was reported. */
export function refundDedupKey(refundId: string): string {
  return `refund:paid:${refundId}`
}

/**
 * The claim of a saved or removed card. Only the provider names the card, so the gateway, and the
 * merchant's account if there is one, are part of the key.
 */
export function paymentMethodDedupKey(
  status: PaymentMethodStatus,
  method: Pick<PaymentMethod, 'gateway' | 'merchantAccount' | 'providerReference'>,
): string {
  const { gateway, merchantAccount, providerReference } = method
  const owner = merchantAccount === null ? gateway : `${gateway}/${merchantAccount}`
  return `payment_method:${status}:${owner}/${providerReference}`
}

export function paymentMethodEventType(status: PaymentMethodStatus): EventType {
  return status === 'attached' ? 'PaymentMethodAttached' : 'PaymentMethodDetached'
}

/** The claim of a dispute's status: its row's id, however it was reported. */
export function disputeDedupKey({ id, status }: Pick<Dispute, 'id' | 'status'>): string {
  return `dispute:${status}:${id}`
}

/** The id of the dispute that a key is of; undefined for any other key. */
export function disputeIdIn(dedupKey: string): string | undefined {
  return /^dispute:[a-z]+:(.+)$/.exec(dedupKey)?.[1]
}

/** The types of the events of documents, in the order in which they are dispatched. */
export const invoiceEventTypes = ['InvoiceIssued', 'InvoicePaid'] as const satisfies EventType[]
export type InvoiceEventType = (typeof invoiceEventTypes)[number]

export function isInvoiceEventType(type: string): type is InvoiceEventType {
  return (invoiceEventTypes as readonly string[]).includes(type)
}

/** The claim of a document's event: its row's id, whoever has issued it. */
export function invoiceDedupKey(type: InvoiceEventType, invoiceId: string): string {
  return `invoice:${type === 'InvoiceIssued' ? 'issued' : 'paid'}:${invoiceId}`
}

/** The claim of what a payer's browser did, the first time. */
export function browserDedupKey(
  type: Extract<EventType, 'CheckoutReturned' | 'PaymentLinkOpened'>,
  paymentId: string,
): string {
  const what = type === 'CheckoutReturned' ? 'checkout:returned' : 'payment_link:opened'
  return `${what}:${paymentId}`
}

/** The event that an outcome may lead to; undefined for one that leads to none. */
export function eventTypeOf(outcome: Outcome): EventType | undefined {
  switch (outcome.type) {
    case 'payment':
      return paymentEventType(outcome.status)
    case 'refund':
      return outcome.status === 'paid' ? 'PaymentRefunded' : undefined
    case 'payment_method':
      return paymentMethodEventType(outcome.status)
    case 'dispute':
      return 'PaymentDisputed'
    // Their events follow from the row, once it has changed.
    case 'subscription':
    case 'invoice':
    case 'ignored':
      return undefined
    default:
      return assertNever(outcome)
  }
}
