import type { Moment, SubscriptionState, WishRefusal, WishResult } from './change.ts'
import { draftOf, type Draft } from './draft.ts'
import { finish } from './finish.ts'

/** A wish that is carried out, or why it is not. */
export function carriedOut(draft: Draft, moment: Moment): WishResult {
  return { kind: 'changed', change: finish(draft, moment) }
}

/** What is there already: the wish was made before. */
export function asItIs(state: SubscriptionState, moment: Moment): WishResult {
  return carriedOut(draftOf(state), moment)
}

export function refused(reason: WishRefusal['reason'], text: string, field?: string): WishRefusal {
  return { kind: 'refused', reason, text, ...(field !== undefined && { field }) }
}

export const ended = refused('subscription_ended', 'the subscription has ended')

export const underWay = refused(
  'renewal_under_way',
  'a payment of the subscription is under way: try again when it is decided',
)
