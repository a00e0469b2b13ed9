import type { SubscriptionState } from './change.ts'
import type { Interval, Subscription, Terms } from './subscription.ts'

/** The terms of the period of this number. */
export function termsOf(subscription: Subscription, number: number): Terms {
  const { nextTerms } = subscription
  const { plan, amount, currency, every } =
    nextTerms !== null && nextTerms.fromNumber <= number ? nextTerms : subscription
  return { plan, amount, currency, every }
}

/** The terms of what is opened next. */
export function nextTermsOf({ subscription, lastNumber }: SubscriptionState): Terms {
  return termsOf(subscription, lastNumber + 1)
}

export function isSameInterval(one: Interval, other: Interval): boolean {
  return one.unit === other.unit && one.count === other.count
}

export function isSameTerms(one: Terms, other: Terms): boolean {
  return (
    one.plan === other.plan &&
    one.amount === other.amount &&
    one.currency === other.currency &&
    isSameInterval(one.every, other.every)
  )
}
