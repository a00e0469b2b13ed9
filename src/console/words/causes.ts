import type { EventSource } from '../../events/catalogue.ts'
import type { Cause } from '../../payments/payment.ts'

/** What moved a payment. */
export const causeWords: Readonly<Record<Cause, string>> = {
  call: 'by a callback',
  poll: 'found by asking the provider',
  refund: 'by a refund that was requested here',
  operator: 'by an operator',
  service: 'by the service itself, at its time',
}

/** What an event came of. */
export const sourceWords: Readonly<Record<EventSource, string>> = {
  ...causeWords,
  browser: "by the payer's browser",
}
