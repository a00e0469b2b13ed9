import { percentsReached, withReached } from './judge-usage.ts'
import { inWindowOf, resetOf, windowAt, type WindowFacts } from './quota-window.ts'
import type { FiredQuotaEvent, MovedCounter } from './quota-events.ts'
import type { QuotaCounter } from './quota.ts'
import type { Subscription, WantedQuota, WantedQuotas } from './subscription.ts'

/** Where and when quotas are given. */
export interface QuotaMoment extends WindowFacts {
  readonly subscription: Pick<Subscription, 'id' | 'timeZone'>
  readonly now: Date
}

/** What becomes of the counters of a subscription. */
export interface QuotaChange {
  /** New ones, and those that change. */
  readonly counters: readonly QuotaCounter[]
  /** Names of those that are taken away. */
  readonly removed: readonly string[]
  readonly events: readonly FiredQuotaEvent[]
}

/** What a quota says that is new: what it leaves out is as usual. */
export function inFull({ limit, every = null, percents = [100] }: WantedQuota) {
  return { limit, every, percents }
}

/**
 * Gives a subscription quotas, at once: a new one begins with nothing used. One that it has keeps
 * what was used, unless the length of its windows changes. Those that are not named stay as they are.
 */
export function changeQuotas(
  known: readonly QuotaCounter[],
  wanted: WantedQuotas,
  giving: QuotaMoment,
): QuotaChange {
  const names = new Set([...known.map(({ quota }) => quota), ...Object.keys(wanted)])
  const moved = [...names].flatMap((quota): readonly MovedCounter[] => {
    const counter = known.find((one) => one.quota === quota)
    // A quota may be called like something that every object has.
    const terms = Object.hasOwn(wanted, quota) ? wanted[quota] : undefined
    if (terms === null) return []
    if (counter === undefined) {
      return terms === undefined ? [] : [{ counter: begun(quota, terms, giving), events: [] }]
    }
    // The end of its period may just have been moved.
    const now = inWindowOf(counter, giving, giving.now)
    return [terms === undefined ? now : changed(now, terms, giving)]
  })
  return {
    counters: moved.map(({ counter }) => counter).filter((counter) => !known.includes(counter)),
    removed: known.map(({ quota }) => quota).filter((quota) => wanted[quota] === null),
    events: moved.flatMap(({ events }) => events),
  }
}

/** A counter in its first window. */
function begun(quota: string, terms: WantedQuota, giving: QuotaMoment): QuotaCounter {
  const { subscription, now } = giving
  const own = { ...inFull(terms), anchorAt: now, timeZone: subscription.timeZone }
  const window = windowAt(own, giving, now)
  return {
    ...own,
    subscriptionId: subscription.id,
    quota,
    used: 0n,
    window,
    reached: 0,
    // A quota that is taken away and given again goes on after its last event.
    eventNumber: BigInt(now.getTime()),
    lookAt: window?.endsAt ?? now,
  }
}

function changed(moved: MovedCounter, terms: WantedQuota, giving: QuotaMoment): MovedCounter {
  const { counter, events } = moved
  const { limit, every = counter.every, percents = counter.percents } = terms
  if (isSameLength(every, counter.every)) {
    const begun = events.map((event) => withLimit(event, limit))
    return withReached({ counter: withTerms(counter, { limit, percents }), events: begun })
  }
  const { quota, eventNumber, window: before } = counter
  const anew = { ...begun(quota, { limit, every, percents }, giving), eventNumber }
  if (before === null || anew.window === null) return { counter: anew, events }
  return resetOf({ counter: anew, events }, counter, anew.window)
}

/** The window that has just begun is one of the new limit. */
function withLimit(event: FiredQuotaEvent, limit: bigint | null): FiredQuotaEvent {
  return event.type === 'SubscriptionQuotaReset'
    ? { ...event, data: { ...event.data, limit } }
    : event
}

/** What another limit has taken back is reached anew, and fires again. */
function withTerms(
  counter: QuotaCounter,
  terms: Pick<QuotaCounter, 'limit' | 'percents'>,
): QuotaCounter {
  const { used, reached } = counter
  const now = Math.max(0, ...percentsReached({ ...terms, used }))
  if (terms.limit === counter.limit || now >= reached) return { ...counter, ...terms }
  return { ...counter, ...terms, reached: now }
}

function isSameLength(one: QuotaCounter['every'], other: QuotaCounter['every']): boolean {
  return one?.unit === other?.unit && one?.count === other?.count
}
