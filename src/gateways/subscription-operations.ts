import type { Outcome } from '../payments/outcome.ts'
import type { SubscriptionStatement } from '../subscriptions/statement.ts'
import type { Interval } from '../subscriptions/subscription.ts'
import type { OperationContext } from './interpret-context.ts'

/** A subscription that the provider manages. */
export interface SubscriptionRequest {
  /** The provider's id of it. */
  readonly reference: string
  readonly merchantAccount: string | null
  readonly live: boolean | null
}

/** What is asked of the provider for a subscription. */
export interface SubscriptionWishRequest extends SubscriptionRequest {
  /**
   * Made for this wish alone: two wishes of the same kind are two requests, a repeated request is
   * one.
   */
  readonly wishId: string
}

/** How a subscription stands at its provider. */
export interface SubscriptionReply {
  readonly statement: SubscriptionStatement
  /**
   * What it has been charged of late, and the documents of that, in the same form as from
   * `interpret`: so a callback that was lost is made up for.
   */
  readonly outcomes: readonly Outcome[]
}

/**
 * Subscriptions that the provider manages. Only `read` says how one stands; an answer to a wish
 * says no more than that it was taken. A wish is one request, whatever becomes of it.
 */
export interface SubscriptionOperations {
  /** Why a checkout cannot begin one with periods of this length, as one phrase. */
  intervalFault?(every: Interval): string | undefined
  /** Changes nothing. Undefined: the provider has no such subscription. */
  read(
    request: SubscriptionRequest,
    context: OperationContext,
  ): Promise<SubscriptionReply | undefined>
  cancel?(
    request: SubscriptionWishRequest & { readonly at: 'period_end' | 'now' },
    context: OperationContext,
  ): Promise<void>
  /** `until`: when it goes on by itself; null: when that is wished. */
  pause?(
    request: SubscriptionWishRequest & {
      readonly at: 'period_end' | 'now'
      readonly until: Date | null
    },
    context: OperationContext,
  ): Promise<void>
  /** Ends a pause, or takes back a planned end or pause. */
  resume?(request: SubscriptionWishRequest, context: OperationContext): Promise<void>
}
