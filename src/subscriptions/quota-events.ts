import { keyOfEvent, type QuotaEvent } from './events.ts'
import type { QuotaCounter } from './quota.ts'

/** An event that fired, and its claim. */
export type FiredQuotaEvent = QuotaEvent & {
  readonly subscriptionId: string
  readonly dedupKey: string
  readonly number: bigint
}

/** A counter, and the events that led to how it is. */
export interface MovedCounter {
  readonly counter: QuotaCounter
  readonly events: readonly FiredQuotaEvent[]
}

/**
 * Fires an event of a quota, after all that it has fired before. The counter is locked and keeps what
 * was reached, so a number is given once. The window is no name: a quota that is taken away and given
 * again in one period, or counted by other windows for a while, begins again within the same window.
 */
export function firedFor({ counter, events }: MovedCounter, event: QuotaEvent): MovedCounter {
  const { subscriptionId, eventNumber } = counter
  const number = eventNumber + 1n
  const names = { subscription: subscriptionId, 'number of the event': number }
  const fired = { ...event, subscriptionId, dedupKey: keyOfEvent(event, names), number }
  return { counter: { ...counter, eventNumber: number }, events: [...events, fired] }
}
