import type { SnakeCase } from '../kernel/field-names.ts'
import type { Money } from '../kernel/money.ts'

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
export interface Payable {
  readonly type: string
  readonly id: string
}

/**
 * A charge, or a refund of one (`type: 'refund'`, `parentId`: the charge).
 * @see {@link PaymentJson}, which it is in JSON and as a prop of a React client component.
 */
export interface Payment extends Money {
  readonly id: string
  readonly type: PaymentType
  readonly parentId: string | null
  readonly gateway: string
  /** The merchant's account at the provider, if one callback URL may serve several. */
  readonly merchantAccount: string | null
  /** Live money or the provider's test mode; null while unknown. */
  readonly live: boolean | null
  readonly status: PaymentStatus
  readonly payable: Payable
  readonly description: string | null
  readonly customer: Readonly<Record<string, unknown>> | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly returnUrl: string | null
  /** The provider's id of the checkout (`cs_...`, invoice id), set once. */
  readonly checkoutReference: string | null
  /** The provider's id of the charge (`pi_...`, transaction id), set once. */
  readonly providerReference: string | null
  readonly checkout: CheckoutState
  readonly checkoutUrl: string | null
  /** What the provider answered when a request for a checkout, a charge or a refund failed. */
  readonly operationError: string | null
  /** Why it was declined, in the provider's code; stays if it is paid later. */
  readonly declineCode: string | null
  /** Why the provider could not be polled, or what in its answer needs a person. */
  readonly pollError: string | null
  /** The card is to be saved with it. */
  readonly saveCard: boolean
  /** The saved card that it charges, if any. */
  readonly paymentMethodId: string | null
  /** The period of a subscription that it pays for, if any. */
  readonly periodId: string | null
  /** When it was handed to the provider. */
  readonly handedAt: Date | null
  readonly expiresAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
  /**
   * The payment as the management API shows it: `JSON.stringify` and `res.json(payment)` write
   * this. A copy (`{ ...payment }`) is without it.
   */
  toJSON(): PaymentJson
}

/** A payment in JSON: names in snake_case, times in ISO 8601 UTC, the amount as a number. */
export type PaymentJson = JsonFields<Omit<Payment, 'toJSON'>>

/** Data in JSON: names in snake_case, times in ISO 8601 UTC, amounts as numbers. */
export type JsonFields<Data> = {
  readonly [Field in keyof Data & string as SnakeCase<Field>]: JsonOf<Data[Field]>
}

type JsonOf<Value> = Value extends Date ? string : Value extends bigint ? number : Value

/** One change of a payment: from, to, and what caused it. */
export interface PaymentTransition {
  readonly from: PaymentStatus
  readonly to: PaymentStatus
  readonly cause: Cause
  readonly webhookCallId: string | null
  readonly at: Date
}
