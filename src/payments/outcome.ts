import type { PaymentStatus } from './payment.ts'

/** How a callback names the payment it is about. */
export type PaymentReference =
  | { readonly id: string }
  | { readonly checkoutReference: string }
  | { readonly providerReference: string }

/** Why a callback changes nothing. The same words stand in the log, on the call and in the docs. */
export const ignoredReasons = [
  'unhandled_event',
  'no_outcome',
  'unreadable_payload',
  'malformed_payload',
  'invalid_reference',
  'unknown_payment',
  'gateway_mismatch',
  'merchant_mismatch',
  'mode_mismatch',
  'checkout_reference_mismatch',
  'provider_reference_mismatch',
  'provider_reference_taken',
  'amount_mismatch',
  'already_paid',
  'already_paid_other_reference',
  'already_settled',
  'superseded',
] as const
/** One of `ignoredReasons`. */
export type IgnoredReason = (typeof ignoredReasons)[number]

/** What a gateway says of a payment. Whatever the callback does not state is left out. */
export interface PaymentOutcome {
  readonly type: 'payment'
  readonly payment: PaymentReference
  readonly status: Exclude<PaymentStatus, 'pending'>
  /** Minor units; a paid outcome without an amount or a currency never settles a payment. */
  readonly amount?: bigint
  readonly currency?: string
  /**
   * The callback carries no amount by design, so whatever was charged counts. Only a gateway that
   * verifies nothing (the fake one) may say so; a stated amount or currency is always compared.
   */
  readonly amountIs?: 'as_charged'
  readonly merchantAccount?: string
  readonly live?: boolean
  readonly checkoutReference?: string
  readonly providerReference?: string
}

/** The outcome states no money by design, so whatever was charged counts. */
export function chargedAsIs(outcome: PaymentOutcome): boolean {
  const stated = outcome.amount !== undefined || outcome.currency !== undefined
  return outcome.amountIs === 'as_charged' && !stated
}

/** A callback that changes nothing. */
export interface IgnoredOutcome {
  readonly type: 'ignored'
  readonly reason: IgnoredReason
  /** What exactly was found, for the log and the stored call: an event type, a field's name. */
  readonly detail?: string
}

/** One fact that a callback or a poll reply states, in our words. */
export type Outcome = PaymentOutcome | IgnoredOutcome

/** What became of an outcome; a call keeps the list of its results. */
export type OutcomeResult =
  | { readonly result: 'applied' | 'duplicate'; readonly type: string }
  | {
      readonly result: 'ignored'
      readonly type: string
      readonly reason: IgnoredReason
      readonly detail?: string
    }

/** The outcome of a callback that changes nothing, and why. */
export function ignored(reason: IgnoredReason, detail?: string): IgnoredOutcome {
  return detail === undefined ? { type: 'ignored', reason } : { type: 'ignored', reason, detail }
}
