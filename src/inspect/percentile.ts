import { buckets } from '../numbers/catalogue.ts'
import { unbounded } from '../numbers/slots.ts'

/** How long something took, in seconds: of half of them no longer, of 99 % no longer. */
export interface Percentiles {
  readonly p50: number
  readonly p99: number
}

interface CountedBucket {
  /** The upper bound; `sum` and what else there is counts for nothing. */
  readonly label: string
  readonly value: number
}

/**
 * Estimated from the counts of buckets, as if those within one were spread evenly over it; what took
 * longer than the last bound counts as that. Null: there is nothing to estimate it from.
 */
export function percentilesOf(counted: readonly CountedBucket[]): Percentiles | null {
  const counts = new Map<string, number>()
  for (const { label, value } of counted) counts.set(label, (counts.get(label) ?? 0) + value)
  const inEach = buckets.map((to, index) => {
    return { from: buckets[index - 1] ?? 0, to, count: counts.get(String(to)) ?? 0 }
  })
  const last = buckets.at(-1) ?? 0
  const all = [...inEach, { from: last, to: last, count: counts.get(unbounded) ?? 0 }]
  const total = all.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return null
  return { p50: valueAt(all, total * 0.5), p99: valueAt(all, total * 0.99) }
}

interface Bucket {
  readonly from: number
  readonly to: number
  readonly count: number
}

function valueAt(all: readonly Bucket[], rank: number): number {
  let before = 0
  for (const { from, to, count } of all) {
    if (count > 0 && before + count >= rank) {
      return toMicroseconds(from + ((to - from) * (rank - before)) / count)
    }
    before += count
  }
  return all.at(-1)?.to ?? 0
}

/** An estimate says no more, and sums of fractions have long tails. */
function toMicroseconds(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6
}
