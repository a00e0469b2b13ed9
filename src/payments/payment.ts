import type { Money } from '../kernel/money.ts'
import * as field from '../kernel/noun.ts'
import { byChoice, byGateway, byPayable, byText, orNull } from '../kernel/noun.ts'
import type { JsonValues, Values } from '../kernel/noun.ts'

export const paymentStatuses = ['pending', 'paid', 'failed', 'canceled'] as const
/** A charge that is `paid` stays so; one that is `failed` or `canceled` can still become `paid`. */
export type PaymentStatus = (typeof paymentStatuses)[number]

export const paymentTypes = ['charge', 'refund'] as const
/** A charge, or a refund of one. */
export type PaymentType = (typeof paymentTypes)[number]

export const causes = ['call', 'poll', 'refund', 'operator', 'service'] as const
/** What moved a payment: a stored call, a status poll, our own refund, a person, or our clock. */
export type Cause = (typeof causes)[number]

export const checkoutStates = ['none', 'unknown', 'open', 'refused', 'closed'] as const
/**
 * Where the payer pays:
 * - `none`: Quittance was not asked for a checkout; it started elsewhere;
 * - `unknown`: the provider was asked for one and has not answered;
 * - `open`: there is one;
 * - `refused`: the provider said no; `operationError` says what;
 * - `closed`: it was paid, canceled or written off, or the charge of a saved card was declined.
 */
export type CheckoutState = (typeof checkoutStates)[number]

/** The merchant's own object that a payment pays for: an order, a subscription, and so on. */
export interface Payable extends Values<typeof field.payableFields> {}

export const paymentFields = {
  id: field.id('payment'),
  type: field.choice(paymentTypes),
  parentId: orNull(field.id('payment', { label: 'refund of' })),
  gateway: field.text({ of: 'gateway' }),
  /** The merchant's account at the provider, if one callback URL may serve several. */
  merchantAccount: orNull(field.text({ label: 'account' })),
  /** Live money or the provider's test mode; null while unknown. */
  live: field.mode(),
  status: field.choice(paymentStatuses),
  amount: field.minorUnits(),
  currency: field.text(),
  payable: { ...field.payable(), label: 'for' },
  description: orNull(field.text()),
  customer: orNull(field.object()),
  metadata: orNull(field.object()),
  returnUrl: orNull(field.text()),
  /** The provider's id of the checkout (`cs_...`, invoice id), set once. */
  checkoutReference: orNull(field.text({ label: 'checkout id' })),
  /** The provider's id of the charge (`pi_...`, transaction id), set once. */
  providerReference: orNull(field.text({ label: 'provider id' })),
  checkout: field.choice(checkoutStates),
  checkoutUrl: orNull(field.text({ label: 'pay at' })),
  /** What the provider answered when a request for a checkout, a charge or a refund failed. */
  operationError: orNull(field.text({ label: 'error' })),
  /** Why it was declined, in the provider's code; stays if it is paid later. */
  declineCode: orNull(field.text({ label: 'declined' })),
  /** Why the provider could not be polled, or what in its answer needs a person. */
  pollError: orNull(field.text({ label: 'last poll' })),
  /** The card is to be saved with it. */
  saveCard: field.flag(),
  /** The saved card that it charges, if any. */
  paymentMethodId: orNull(field.id('card')),
  /** The period of a subscription that it pays for, if any. */
  periodId: orNull(field.id('period')),
  /** When it was handed to the provider. */
  handedAt: orNull(field.time({ label: 'handed over' })),
  expiresAt: orNull(field.time()),
  createdAt: field.time(),
  updatedAt: field.time(),
}

/**
 * A charge, or a refund of one (`type: 'refund'`, `parentId`: the charge).
 * @see {@link PaymentJson}, which it is in JSON and as a prop of a React client component.
 */
export interface Payment extends Money, Values<typeof paymentFields> {
  /**
   * The payment as the management API shows it: `JSON.stringify` and `res.json(payment)` write
   * this. A copy (`{ ...payment }`) is without it.
   */
  toJSON(): PaymentJson
}

/** A payment in JSON: names in snake_case, times in ISO 8601 UTC, the amount as a number. */
export type PaymentJson = JsonValues<typeof paymentFields>

/** What narrows a list of charges. */
export const paymentFilters = {
  gateway: byGateway,
  status: byChoice(paymentStatuses),
  /** The merchant's own object that they pay for. */
  payable: byPayable('only of this object, e.g. order:42'),
  /** The `id` or the `email` of their `customer`. */
  customer: byText('only of the customer with this id or email', {
    label: 'Customer: id or e-mail',
  }),
}

export const transitionFields = {
  from: field.choice(paymentStatuses),
  to: field.choice(paymentStatuses),
  cause: field.choice(causes),
  webhookCallId: orNull(field.id('call')),
  at: field.time(),
}

/** One change of a payment: from, to, and what caused it. */
export interface PaymentTransition extends Values<typeof transitionFields> {}
