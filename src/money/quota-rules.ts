import { z } from 'zod'
import { must, wholeNumber } from '../kernel/input-rules.ts'
import type { IntervalInput } from '../subscriptions/interval.ts'
import { quotaName } from '../subscriptions/quota.ts'
import type { WantedQuotas } from '../subscriptions/subscription.ts'
import { every } from './subscription-rules.ts'

/** How much of something may be used in each window. */
export interface QuotaInput {
  /** Units; null: no limit, it is only counted. */
  readonly limit: bigint | number | null
  /** How long a window is: `day`, `3 months`. Null, or left out as it is given: the period paid. */
  readonly every?: IntervalInput | null | undefined
  /** Per cent of the limit at which UsageLimitReached fires; `[100]` if left out. */
  readonly percents?: readonly number[] | undefined
}

/** Quotas by their names; null takes away one that a plan gives, or that was given before. */
export type QuotasInput = Readonly<Record<string, QuotaInput | null>>

/** Of a subscription. */
export const mostQuotas = 50
const largestLimit = BigInt(Number.MAX_SAFE_INTEGER)

const limitRule = must(`must be a whole number of units from 0 to ${largestLimit}, or null`)
const limit = z.union(
  [z.null(), wholeNumber({ least: 0n, most: largestLimit }, limitRule)],
  limitRule,
)

const percentRule = must(
  'must be whole numbers from 1 to 1000, ascending, 10 at most, such as [80, 100]',
)
const isAscending = (percents: readonly number[]) =>
  percents.every((percent, at) => at === 0 || percent > (percents[at - 1] ?? 0))
const percents = z
  .array(z.int(percentRule).min(1, percentRule).max(1000, percentRule), percentRule)
  .max(10, percentRule)
  .refine(isAscending, percentRule)

const fields = {
  limit,
  every: every.nullable().optional(),
  percents: percents.optional(),
} satisfies Record<keyof QuotaInput, z.ZodType>

const quotasRule = must(
  `must be an object with at most ${mostQuotas} quotas by their names, ` +
    'which are of a-z, 0-9, "_", "." and "-"',
)

/** For settings and input alike. */
export const quotas = z
  .record(z.string(), z.strictObject(fields, quotaFault()).nullable(), quotasRule)
  .refine((given) => {
    const names = Object.keys(given)
    return names.length <= mostQuotas && names.every((name) => quotaName.test(name))
  }, quotasRule)
  .meta({
    maxProperties: mostQuotas,
    propertyNames: { pattern: quotaName.source },
  }) as z.ZodType as z.ZodType<WantedQuotas, QuotasInput>

function quotaFault() {
  return {
    error: ({ code, keys }: { readonly code?: string; readonly keys?: readonly string[] }) =>
      code === 'unrecognized_keys'
        ? `has the unknown key ${keys?.[0]}; there are ${Object.keys(fields).join(', ')}`
        : 'must be an object with limit',
  }
}
