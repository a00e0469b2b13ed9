import type { Money } from '../kernel/money.ts'
import type { PaymentReference } from '../payments/outcome.ts'
import type { PeriodNeeds } from './period.ts'
import type { Interval, PauseReason, SubscriptionStatus } from './subscription.ts'

/** How a subscription stands at the provider that manages it, in our words, as it answered. */
export interface SubscriptionStatement extends Money {
  /** The provider's id of it. */
  readonly reference: string
  readonly merchantAccount?: string
  readonly live?: boolean
  readonly status: SubscriptionStatus
  /** Of one that is past due: the provider has tried for the last time, and it goes on unpaid. */
  readonly hasGivenUp?: true
  /** Of one that is paused: why; `requested` if left out. */
  readonly pauseReason?: PauseReason
  /** Each period is known to cost nothing; an amount of 0 alone may mean that its price is unknown. */
  readonly isFree?: true
  readonly every: Interval
  /** The period that the provider says it is in, paid or not; null: in none. */
  readonly currentPeriod: { readonly startsAt: Date; readonly endsAt: Date } | null
  /** The end of its trial, also one that is over; null: it has had none. */
  readonly trialEndsAt: Date | null
  /** What is planned at the provider. */
  readonly cancelAt: Date | null
  readonly pauseAt: Date | null
  readonly resumeAt: Date | null
  /** When it ended, if it has. */
  readonly endedAt: Date | null
  /** The last charge that failed and is not paid since; null: none. */
  readonly failure: StatedFailure | null
  /**
   * The payment of ours that began it, if the subscription names it by what only we or the provider
   * can have written.
   */
  readonly payment?: PaymentReference
}

/** A charge of the provider's that has failed. */
export interface StatedFailure {
  /** Tries so far; 1 if the provider does not count them. */
  readonly attempt: number
  /** When the provider tries again; null: not by itself, or it does not say. */
  readonly nextAttemptAt: Date | null
  readonly needs: PeriodNeeds
}
