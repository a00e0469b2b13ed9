import type { Money } from '../kernel/money.ts'
import type { Secret } from '../kernel/secret.ts'
import type { PaymentStatus } from './payment.ts'
import type { PaymentMethodStatus, PaymentMethodDetails } from './payment-method.ts'
import type { DisputeStatus } from './dispute.ts'
import { reasonFor, type IgnoredReason } from './reasons.ts'

/**
 * How the provider names the payment that a callback is about: by its own id, or by ours where only
 * our server and the provider can have written it.
 */
export type PaymentReference =
  | { readonly id: string }
  | { readonly checkoutReference: string }
  | { readonly providerReference: string }

/**
 * An id of our payment that others can have written:
 * - `payer`: the payer or the merchant's page. It counts only if the provider's own ids name no
 *   payment, and only to pay, in full, a payment that has none of the provider's ids yet.
 * - `anybody`: anyone who can get the provider to sign a callback. It only says what to wait for.
 */
export interface ClaimedReference {
  readonly id: string
  readonly by: 'payer' | 'anybody'
}

/** What ties a statement to an account and a mode; compared with what the payment was made for. */
export interface AccountStatement {
  readonly merchantAccount?: string
  readonly live?: boolean
}

/** The time that a charge of a subscription pays for; what is not stated is left out. */
export interface StatedPeriod {
  readonly startsAt?: Date
  /** Exclusive. */
  readonly endsAt?: Date
}

/** What a gateway says about a payment. What the callback does not state is left out. */
export interface PaymentOutcome extends AccountStatement {
  readonly type: 'payment'
  readonly payment: PaymentReference
  /** For a renewal, the first payment's. */
  readonly claimed?: ClaimedReference
  readonly status: Exclude<PaymentStatus, 'pending'>
  /** Minor units; a paid outcome without an amount or a currency never settles a payment. */
  readonly amount?: bigint
  readonly currency?: string
  /**
   * The callback carries no amount by design, so whatever was charged counts. Only a gateway that
   * verifies nothing (the fake one) may say this; a stated amount or currency is always compared.
   */
  readonly amountIs?: 'as_charged'
  readonly checkoutReference?: string
  readonly providerReference?: string
  /** The provider's id of the subscription that it started, or that a renewal belongs to. */
  readonly subscriptionReference?: string
  /** The time that it pays for, if it belongs to a subscription and the report says so. */
  readonly period?: StatedPeriod
  /** When its provider made the charge: tells its period, where the report does not say that. */
  readonly chargedAt?: Date
  /**
   * A further charge of what another payment started (a subscription's renewal): that payment, or
   * `subscription` if only `subscriptionReference` and `claimed` identify it. If no payment has the
   * reference that `payment` gives, one is made, with the first one's payable and the stated money.
   */
  readonly renews?: PaymentReference | 'subscription'
  /** Why the provider could not be asked what a renewal renews; thrown if it must be known. */
  readonly unanswered?: unknown
  /**
   * For a `canceled` one: blocked money is released. If the payment is paid, the money had been
   * taken and all of it went back; or, if the report may be about an earlier try, a person looks.
   */
  readonly ifPaid?: 'refunded' | 'review'
  /**
   * It holds only if we opened the checkout or charged the card: what started elsewhere may have
   * blocked money that was never taken.
   */
  readonly ifOpenedHere?: true
  /**
   * For a `paid` one: anyone with a copy of the report can send it again, and it does not say
   * whether it still holds. If the payment is canceled, a person looks.
   */
  readonly ifCanceled?: 'review'
  /** Why a `failed` one failed: a code that is signed, or in an answer. It is kept if it is short. */
  readonly declineCode?: string
}

interface AnyRefundOutcome extends AccountStatement {
  readonly type: 'refund'
  /** The charge. */
  readonly payment: PaymentReference
  /** The provider's id of what was charged, if payments are known by one: compared. */
  readonly providerReference?: string
  readonly currency?: string
}

/** One refund that the provider names, or that we requested. */
export interface SingleRefundOutcome extends AnyRefundOutcome {
  /** `paid`: the money went back. `failed` may follow `paid`: a refund that was returned. */
  readonly status: PaymentStatus
  /** Minor units of this refund alone. */
  readonly amount?: bigint
  /** The provider's id of the refund: the same in every report of it, and unique to it. */
  readonly refundReference?: string
  /** The id of our own refund row, if the provider echoes it; one of the two is given. */
  readonly refundId?: string
}

/** How much of a charge has been refunded so far, if the provider does not name single refunds. */
export interface RefundedTotalOutcome extends AnyRefundOutcome {
  readonly status: 'paid'
  /** Minor units of all refunds so far. */
  readonly refundedTotal: bigint
}

/** What a gateway says about the refunds of a charge. */
export type RefundOutcome = SingleRefundOutcome | RefundedTotalOutcome

/** The provider's id of the refund, if the outcome is about one that it names. */
export function refundReferenceOf(outcome: RefundOutcome): string | null {
  return 'refundedTotal' in outcome ? null : (outcome.refundReference ?? null)
}

/** A card, or another means of payment, that was saved or removed. */
export interface PaymentMethodOutcome extends AccountStatement {
  readonly type: 'payment_method'
  readonly status: PaymentMethodStatus
  /** The provider's id of it, or what represents its token (`tokenReference`). */
  readonly reference: string
  /** The payment that it was saved with, if any. */
  readonly payment?: PaymentReference
  /** The provider's id of the customer. */
  readonly customerReference?: string
  readonly details?: PaymentMethodDetails
  /** Charges the card without its owner: stored encrypted, or not at all. */
  readonly token?: Secret
}

/** A payer's bank takes a payment back, or has decided not to. */
export interface DisputeOutcome extends AccountStatement, Partial<Money> {
  readonly type: 'dispute'
  readonly payment: PaymentReference
  /** The provider's id of the dispute. */
  readonly reference: string
  readonly status: DisputeStatus
  /** It was lost by a refund, which is reported by itself: the dispute took nothing more. */
  readonly byRefund?: true
  /** What the provider calls such a dispute, where it has several kinds. */
  readonly kind?: string
  /** The reference is of what gives back the money of the oldest open one of its kind about as much. */
  readonly givesBack?: true
}

/**
 * A subscription that the provider manages has changed. That is all it says: callbacks come in any
 * order, so what the subscription is like now has to be asked (`SubscriptionOperations.read`).
 */
export interface SubscriptionOutcome extends AccountStatement {
  readonly type: 'subscription'
  /** The provider's id of it. */
  readonly reference: string
  /** The payment of ours that began it, if the report names it by what only we or the provider write. */
  readonly payment?: PaymentReference
}

/** A line of a document: what is charged for. */
export interface StatedInvoiceLine {
  readonly description: string
  readonly quantity: number
  /** Minor units, of the whole line. */
  readonly amount: bigint
}

/** A document that the provider has issued for a charge or a subscription. */
export interface InvoiceOutcome extends AccountStatement {
  readonly type: 'invoice'
  /** The provider's id of it. */
  readonly reference: string
  readonly status: 'issued' | 'paid' | 'void'
  /** The number that it bears, and where it can be read. */
  readonly number?: string
  readonly url?: string
  /** Minor units of its total. */
  readonly amount?: bigint
  readonly currency?: string
  readonly lines?: readonly StatedInvoiceLine[]
  readonly issuedAt?: Date
  readonly dueAt?: Date
  readonly paidAt?: Date
  /** The charge that it is about, by what only we or the provider write. */
  readonly payment?: PaymentReference
  /** The provider's id of the subscription that it is about. */
  readonly subscriptionReference?: string
}

/** What an ignored report says about money. */
export interface AboutMoney {
  /**
   * It concerns our money, so a person should look: nothing else will happen. If left out, this
   * holds for a report that cannot be read, or lacks what its format requires.
   */
  readonly money?: boolean
  /** Whose money, if only the payment itself shows whether it is ours: then `money` needs it. */
  readonly payment?: PaymentReference
  /** Whose it claims to be, if no payment has that reference: a mark takes nothing from anybody. */
  readonly claimed?: ClaimedReference
}

/** A callback that changes nothing. */
export interface IgnoredOutcome extends AboutMoney {
  readonly type: 'ignored'
  readonly reason: IgnoredReason
  /** What exactly was found, for the log and the stored call: an event type, a field's name. */
  readonly detail?: string
}

/** The payment that exists whenever a charge is ours: for a renewal, the one that it renews. */
export function firstPaymentOf(
  charge: Pick<PaymentOutcome, 'payment' | 'renews'>,
): PaymentReference {
  const { payment, renews = payment } = charge
  return renews === 'subscription' ? payment : renews
}

/**
 * Whether an ignored report concerns money; ours, if `payment` exists or it names none. A gateway of
 * the merchant's own may give a reason that no type has checked.
 */
export function speaksOfMoney({ reason, money }: IgnoredOutcome): boolean {
  return money ?? reasonFor(reason)?.byGateway === 'of money'
}

/** One fact that a callback or a poll reply states, in Quittance's words. */
export type Outcome =
  | PaymentOutcome
  | RefundOutcome
  | PaymentMethodOutcome
  | DisputeOutcome
  | SubscriptionOutcome
  | InvoiceOutcome
  | IgnoredOutcome

/** What became of an outcome; a call keeps the list of its results. */
export type OutcomeResult =
  | {
      readonly result: 'applied' | 'duplicate'
      readonly type: string
      /** What a person should look at. */
      readonly detail?: string
    }
  | {
      readonly result: 'ignored'
      readonly type: string
      readonly reason: IgnoredReason
      readonly detail?: string
    }

/** Whether money was taken: not if someone who pays nothing names some payment. */
export function saysPaid({ status, amount, claimed }: PaymentOutcome): boolean {
  return status === 'paid' && (claimed === undefined || amount !== 0n)
}

/** The outcome states no money by design, so whatever was charged counts. */
export function chargedAsIs(outcome: PaymentOutcome): boolean {
  const stated = outcome.amount !== undefined || outcome.currency !== undefined
  return outcome.amountIs === 'as_charged' && !stated
}

/** The outcome of a callback that changes nothing, and why; `about`: whether it concerns us. */
export function ignored(
  reason: IgnoredReason,
  detail?: string,
  about: AboutMoney = {},
): IgnoredOutcome {
  return { type: 'ignored', reason, ...(detail !== undefined && { detail }), ...about }
}
