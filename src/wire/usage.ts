import { z } from 'zod'
import type { UsageResult } from '../subscriptions/judge-usage.ts'
import { leftOf, type QuotaCounter, type QuotaTerms } from '../subscriptions/quota.ts'
import { intervalUnits } from '../subscriptions/subscription.ts'
import { time } from './fields.ts'
import { withJson } from '../kernel/with-json.ts'

/** Exact: no counter holds more than JSON can say. */
const units = z.int()

const standing = { used: units, limit: units.nullable(), left: units.nullable() }

/** What became of something that was recorded. */
export const usageResultSchema = z.union([
  z.strictObject({ result: z.enum(['counted', 'duplicate', 'refused']), ...standing }),
  z.strictObject({ result: z.literal('unknown_quota') }),
])

/** The same in JSON. */
export type UsageResultJson = z.output<typeof usageResultSchema>

/** What became of something that was recorded, with its form in JSON. */
export type RecordedUsage = UsageResult & { toJSON(): UsageResultJson }

/** A quota of a subscription, and what is used of it in the window that is now. */
export const quotaUsageSchema = z.strictObject({
  quota: z.string(),
  ...standing,
  every: z.strictObject({ unit: z.enum(intervalUnits), count: z.int() }).nullable(),
  percents: z.array(z.int()).readonly(),
  window_starts_at: time.nullable(),
  window_ends_at: time.nullable(),
})

/** The same in JSON. */
export type QuotaUsageJson = z.output<typeof quotaUsageSchema>

/** How much of a quota is used in the window that is now. */
export interface QuotaUsage extends QuotaTerms {
  /** Its name. */
  readonly quota: string
  readonly used: bigint
  /** What may still be used; null: there is no limit. */
  readonly left: bigint | null
  /** Null: no period has been paid yet, so none has begun. */
  readonly windowStartsAt: Date | null
  /** Exclusive. One that has passed: nothing was paid for the time since. */
  readonly windowEndsAt: Date | null
  toJSON(): QuotaUsageJson
}

export function usageResultView(result: UsageResult): UsageResultJson {
  if (result.result === 'unknown_quota') return { result: result.result }
  const { used, limit, left } = result
  return { result: result.result, ...numbers({ used, limit, left }) }
}

/** With its form in JSON. */
export function recordedUsageOf(result: UsageResult): RecordedUsage {
  return withJson({ ...result }, usageResultView)
}

export function quotaUsageOf(counter: QuotaCounter): QuotaUsage {
  const { quota, limit, used, every, percents, window } = counter
  const usage = {
    quota,
    limit,
    used,
    left: leftOf(counter),
    every,
    percents,
    windowStartsAt: window?.startsAt ?? null,
    windowEndsAt: window?.endsAt ?? null,
  }
  return withJson(usage, quotaUsageView)
}

export function quotaUsageView(usage: QuotaUsage): QuotaUsageJson {
  const { quota, every, percents, windowStartsAt, windowEndsAt } = usage
  return {
    quota,
    ...numbers(usage),
    every: every && { unit: every.unit, count: every.count },
    percents,
    window_starts_at: windowStartsAt?.toISOString() ?? null,
    window_ends_at: windowEndsAt?.toISOString() ?? null,
  }
}

interface Numbers {
  readonly used: bigint
  readonly limit: bigint | null
  readonly left: bigint | null
}

function numbers({ used, limit, left }: Numbers) {
  return {
    used: Number(used),
    limit: limit === null ? null : Number(limit),
    left: left === null ? null : Number(left),
  }
}
