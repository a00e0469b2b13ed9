import type { SubscriptionState } from './change.ts'
import type { Interval, NextTerms, Subscription, Terms, WantedQuotas } from './subscription.ts'

/** The terms of the period of this number. */
export function termsOf(subscription: Subscription, number: number): Terms {
  const { nextTerms } = subscription
  const { plan, amount, currency, every } =
    nextTerms !== null && nextTerms.fromNumber <= number ? nextTerms : subscription
  return { plan, amount, currency, every }
}

/** The terms of the open period; without one, the terms of the last granted period. */
export function standingTermsOf({
  subscription,
  open,
}: Pick<SubscriptionState, 'subscription' | 'open'>): Terms {
  const { plan, amount, currency, every } = subscription
  return open === null ? { plan, amount, currency, every } : termsOf(subscription, open.number)
}

/** What is due of quotas once these terms are taken over. */
export function dueQuotasAfter({ dueQuotas }: Subscription, { quotas }: NextTerms) {
  return quotas === undefined ? dueQuotas : { ...dueQuotas, ...quotas }
}

/** What is to be given of quotas now: what came with a period that is open waits for its money. */
export function quotasToGive({
  subscription: { status, dueQuotas },
  open,
}: Pick<SubscriptionState, 'subscription' | 'open'>): WantedQuotas | null {
  return status === 'active' && open === null ? dueQuotas : null
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
