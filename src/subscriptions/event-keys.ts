import type { SubscriptionPeriod } from './period.ts'

/** What happens to a subscription once at most. */
export function subscriptionKey(
  what: 'created' | 'canceled' | 'trial_ended',
  subscriptionId: string,
): string {
  return `subscription:${what}:${subscriptionId}`
}

/** What happens to a period once at most. */
export function periodKey(what: 'renewed' | 'suspended', periodId: string): string {
  return `subscription:${what}:${periodId}`
}

/** A payment fails once. */
export function paymentFailedKey(paymentId: string): string {
  return `subscription:payment_failed:${paymentId}`
}

/**
 * No payment was made, for want of a card: once for a period, and again if a card was charged
 * meanwhile and is gone.
 */
export function noCardKey({ id, paymentsMade }: SubscriptionPeriod): string {
  return `subscription:payment_failed:${paymentsMade === 0 ? id : `${id}/${paymentsMade}`}`
}

/** It may be paused and resumed again and again: the number of the event tells them apart. */
export function pauseKey(
  what: 'paused' | 'resumed',
  subscriptionId: string,
  eventNumber: number,
): string {
  return `subscription:${what}:${subscriptionId}/${eventNumber}`
}

/** A notice fires once for an end: one that was moved is announced anew. */
export function noticeKey(
  what: 'trial_will_end' | 'period_ending',
  subscriptionId: string,
  { end, notice }: { readonly end: Date; readonly notice: number },
): string {
  const seconds = Math.floor(end.getTime() / 1000)
  return `subscription:${what}:${subscriptionId}/${seconds}/${notice}`
}
