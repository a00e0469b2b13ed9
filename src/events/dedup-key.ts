import { assertNever } from '../kernel/errors.ts'
import { filledKey } from '../kernel/event-shape.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { Outcome, PaymentOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { PaymentMethod, PaymentMethodStatus } from '../payments/payment-method.ts'
import type { CatalogueRow, EventType } from './catalogue.ts'

const eventOfStatus = {
  paid: 'PaymentSucceeded',
  failed: 'PaymentFailed',
  canceled: 'PaymentCanceled',
} as const satisfies Record<PaymentOutcome['status'], EventType>

export function paymentEventType(status: PaymentOutcome['status']) {
  return eventOfStatus[status]
}

export function paymentMethodEventType(status: PaymentMethodStatus) {
  return status === 'attached' ? 'PaymentMethodAttached' : 'PaymentMethodDetached'
}

/**
 * A saved card in the keys of its events. Only the provider names the card, so the gateway, and the
 * merchant's account if there is one, are part of the key.
 */
export function namesOfCard({
  gateway,
  merchantAccount,
  providerReference,
}: Pick<PaymentMethod, 'gateway' | 'merchantAccount' | 'providerReference'>) {
  const owner = merchantAccount === null ? gateway : `${gateway}/${merchantAccount}`
  return { gateway: owner, card: providerReference }
}

/** The id of the dispute that a key is of. */
export function disputeIdIn(dedupKey: string): string {
  return dedupKey.slice(dedupKey.lastIndexOf(':') + 1)
}

/** What an event of an outcome or a browser is about, under the lock of its payment. */
export type LockedSubject =
  | { readonly payment: Payment; readonly dispute?: Dispute }
  | { readonly paymentMethod: PaymentMethod }

/**
 * Whether an event that has waited still says what is so: `overtaken` is the decline, or the end, of a
 * payment that is paid by now; `over` is anything else that has moved on. Throws for an event whose
 * key is not that of its subject, and for a payment that is pending and never was what the event says:
 * none ever becomes pending again.
 */
export function standingOf(
  { key: template, says }: Pick<CatalogueRow, 'key' | 'says'>,
  key: string,
  subject: LockedSubject,
): 'holds' | 'overtaken' | 'over' {
  const own = filledKey(template, namesOf(subject))
  if ('dispute' in subject && own !== key) return 'over'
  if (own !== key) throw new Error(`${key} is not the key of its subject, which is ${own}`)
  const { status } = 'payment' in subject ? subject.payment : subject.paymentMethod
  if (says === undefined || says === status) return 'holds'
  if (!('payment' in subject)) return 'over'
  const { payment } = subject
  if (status === 'pending') throw new Error(`${key}: payment ${payment.id} is pending`)
  const isPaid = payment.type === 'charge' && status === 'paid'
  return isPaid && says !== 'pending' ? 'overtaken' : 'over'
}

/** The subject in the keys of its events. */
function namesOf(subject: LockedSubject) {
  if ('paymentMethod' in subject) return namesOfCard(subject.paymentMethod)
  const { payment, dispute } = subject
  if (dispute !== undefined) return { dispute: dispute.id, status: dispute.status }
  return payment.type === 'refund' ? { refund: payment.id } : { payment: payment.id }
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
