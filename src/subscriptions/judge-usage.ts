import * as field from '../kernel/noun.ts'
import { orNull, type Values } from '../kernel/noun.ts'
import { firedFor, type MovedCounter } from './quota-events.ts'
import { leftOf, type QuotaCounter } from './quota.ts'

/** Something that was used, once for its key. */
export interface Usage {
  readonly key: string
  /** Positive. */
  readonly units: bigint
  /** Count it only if it fits into what is left. */
  readonly enforce: boolean
}

export const standingFields = {
  used: field.units(),
  limit: orNull(field.units()),
  /** What may still be used; null: there is no limit. */
  left: orNull(field.units()),
}

/** How much is used by now, and what is left; null: there is no limit. */
export interface UsageStanding extends Values<typeof standingFields> {}

/**
 * What became of something that was recorded:
 * - `counted`: it counts, from now on;
 * - `duplicate`: its key was counted before, and counts once;
 * - `refused`: it was to be counted only if it fits, and does not; its key may come again;
 * - `unknown_quota`: no subscription of this id has such a quota.
 */
export type UsageResult =
  | ({ readonly result: 'counted' | 'duplicate' | 'refused' } & UsageStanding)
  | { readonly result: 'unknown_quota' }

/** What is known of a key: `before`: it was counted before; `now`: by this very flush. */
export type KeyStanding = 'new' | 'before' | 'now'

export interface Judgement extends MovedCounter {
  /** One for each of what was recorded, in its order. */
  readonly results: readonly UsageResult[]
}

/** The most that a counter holds: what JSON can say exactly. */
const mostUsed = BigInt(Number.MAX_SAFE_INTEGER)

/** Whether it cannot fit, whatever becomes of what is recorded beside it. */
export function cannotFit(counter: QuotaCounter, { units, enforce }: Usage): boolean {
  const left = enforce ? leftOf(counter) : null
  return units > (left ?? mostUsed - counter.used)
}

/**
 * Judges what was recorded of one quota, in order, each key once: under its counter's lock, so that
 * `enforce` never counts beyond the limit. Each per cent fires by the record that reaches it.
 */
export function judgeUsage<One extends Usage>(
  counter: QuotaCounter,
  recorded: readonly One[],
  standingOf: (usage: One) => KeyStanding,
): Judgement {
  let moved: MovedCounter = { counter, events: [] }
  const results: UsageResult[] = []
  for (const usage of recorded) {
    const standing = standingOf(usage)
    if (standing === 'new') {
      const counts = !cannotFit(moved.counter, usage)
      if (counts) moved = withReached(counted(moved, usage.units))
      results.push({ result: counts ? 'counted' : 'refused', ...standingNow(moved) })
    } else {
      results.push({ result: standing === 'now' ? 'counted' : 'duplicate', ...standingNow(moved) })
    }
  }
  return { ...moved, results }
}

function standingNow({ counter }: MovedCounter): UsageStanding {
  return { used: counter.used, limit: counter.limit, left: leftOf(counter) }
}

function counted({ counter, events }: MovedCounter, units: bigint): MovedCounter {
  return { counter: { ...counter, used: counter.used + units }, events }
}

/** Fires for each per cent that is reached by now and was not before; once in a window. */
export function withReached(moved: MovedCounter): MovedCounter {
  const { limit, used, reached, quota, window } = moved.counter
  if (limit === null || window === null) return moved
  const due = percentsReached(moved.counter).filter((percent) => percent > reached)
  return due.reduce<MovedCounter>(({ counter, events }, percent) => {
    const data = { quota, limit, used, percent }
    const risen = { counter: { ...counter, reached: percent }, events }
    return firedFor(risen, { type: 'UsageLimitReached', data })
  }, moved)
}

/** Those of its per cents that what is used has reached. */
export function percentsReached({
  limit,
  used,
  percents,
}: Pick<QuotaCounter, 'limit' | 'used' | 'percents'>): readonly number[] {
  if (limit === null || used === 0n) return []
  return percents.filter((percent) => used * 100n >= limit * BigInt(percent))
}
