import type { Money } from '../kernel/money.ts'
import { ignoredReasons } from './outcome.ts'
import type { JsonFields } from './payment.ts'

export const reviewStates = ['open', 'handled'] as const
/** `open`: a person must look; `handled`: one has, or there is nothing left to look at. */
export type ReviewState = (typeof reviewStates)[number]

export const reviewReasons = [
  ...ignoredReasons,
  'paid_after_cancel',
  'first_payment_unpaid',
  'another_subscription',
  'renewal_money_differs',
  'over_refund',
  'refund_of_unpaid',
  'refund_returned',
  'dispute_open',
  'dispute_lost',
  'call_failed',
  'poll_unclear',
  'period_paid_twice',
  'period_void',
  'terms_mismatch',
  'invoiced_twice',
] as const
/** One of `reviewReasons`. */
export type ReviewReason = (typeof reviewReasons)[number]

/** Reasons about a fact that is recorded. A retry of the call does not change the fact. */
export const recordedReasons: readonly ReviewReason[] = [
  'paid_after_cancel',
  'another_subscription',
  'renewal_money_differs',
  'over_refund',
  'refund_returned',
  'dispute_open',
  'dispute_lost',
]

const known: ReadonlySet<unknown> = new Set(reviewReasons)

export function isReviewReason(text: unknown): text is ReviewReason {
  return known.has(text)
}

/** What was stated, and what it was stated of; what is unknown is null. */
export interface StatedMoney {
  /** The provider's id. */
  readonly reference: string | null
  /** Minor units. */
  readonly amount: bigint | null
  readonly currency: string | null
}

/** Something that a person must look at, because money may be involved. */
export interface Review {
  readonly id: string
  readonly gateway: string
  /** One of `reviewReasons`; a later version may know more. */
  readonly reason: string
  /** What exactly was found. */
  readonly detail: string | null
  readonly paymentId: string | null
  readonly periodId: string | null
  readonly subscriptionId: string | null
  /** The call that said it first. It is deleted after a while, the review stays. */
  readonly webhookCallId: string | null
  readonly stated: StatedMoney
  /** What was expected instead. */
  readonly expected: Money | null
  /** How often it was said: by redelivered callbacks, by polls. */
  readonly times: number
  readonly state: ReviewState
  /** Who handled it; null: nobody, or nobody who gave a name. */
  readonly operator: string | null
  readonly note: string | null
  /** Grows whenever the state changes. */
  readonly version: number
  readonly createdAt: Date
  /** When it was last said. */
  readonly lastAt: Date
  readonly handledAt: Date | null
  /** As the management API shows it. A copy (`{ ...review }`) is without it. */
  toJSON(): ReviewJson
}

/** A review in JSON. */
export interface ReviewJson extends JsonFields<Omit<Review, 'toJSON' | 'stated' | 'expected'>> {
  /** What was found, for people; the wording may change. */
  readonly in_words: string
  readonly stated: JsonFields<StatedMoney>
  readonly expected: JsonFields<Money> | null
}
