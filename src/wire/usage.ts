import { z } from 'zod'
import * as field from '../kernel/noun.ts'
import { derived, orNull, valuesOf, viewOf, type Noun, type Values } from '../kernel/noun.ts'
import { withJson } from '../kernel/with-json.ts'
import { intervalText } from '../subscriptions/interval.ts'
import { standingFields, type UsageResult } from '../subscriptions/judge-usage.ts'
import { leftOf, quotaTermsFields, type QuotaCounter } from '../subscriptions/quota.ts'
import { schemaOf } from './noun.ts'

const knownFields = {
  result: field.choice(['counted', 'duplicate', 'refused']),
  ...standingFields,
}

/** What became of something that was recorded. */
export const usageResultSchema = z.union([
  schemaOf(knownFields),
  z.strictObject({ result: z.literal('unknown_quota') }),
])

/** The same in JSON. */
export type UsageResultJson = z.output<typeof usageResultSchema>

/** What became of something that was recorded, with its form in JSON. */
export type RecordedUsage = UsageResult & { toJSON(): UsageResultJson }

const knownView = viewOf(knownFields)

export function usageResultView(result: UsageResult): UsageResultJson {
  return result.result === 'unknown_quota' ? { result: result.result } : knownView(result)
}

/** With its form in JSON. */
export function recordedUsageOf(result: UsageResult): RecordedUsage {
  return withJson({ ...result }, usageResultView)
}

export const quotaUsageFields = {
  /** Its name. */
  quota: field.text(),
  ...standingFields,
  ...quotaTermsFields,
  /** Null: no period has been paid yet, so none has begun. */
  windowStartsAt: orNull(field.time()),
  /** Exclusive. One that has passed: nothing was paid for the time since. */
  windowEndsAt: orNull(field.time()),
}

/** A quota of a subscription, and what is used of it in the window that is now. */
export const quotaUsageSchema = schemaOf(quotaUsageFields)

/** The same in JSON. */
export type QuotaUsageJson = z.output<typeof quotaUsageSchema>

/** How much of a quota is used in the window that is now. */
export interface QuotaUsage extends Values<typeof quotaUsageFields> {
  toJSON(): QuotaUsageJson
}

export const quotaUsageView: (usage: QuotaUsage) => QuotaUsageJson = viewOf(quotaUsageFields)

export const quotaNoun: Noun<QuotaUsage> = {
  plural: 'quotas',
  facts: {
    ...quotaUsageFields,
    limit: derived(
      quotaUsageFields.limit,
      ({ limit }: QuotaUsage) => limit && Number(limit),
      ({ limit }) => String(limit ?? 'none'),
    ),
    every: field.inWords(
      ({ every }: QuotaUsage) =>
        every === null ? 'with each period' : `every ${intervalText(every)}`,
      { label: 'starts over' },
    ),
  },
  filters: {},
  columns: ['quota', 'used', 'limit', 'left', 'windowEndsAt'],
  view: quotaUsageView,
}

export function quotaUsageOf(counter: QuotaCounter): QuotaUsage {
  const { window } = counter
  const usage = valuesOf(quotaUsageFields, {
    ...counter,
    left: leftOf(counter),
    windowStartsAt: window?.startsAt ?? null,
    windowEndsAt: window?.endsAt ?? null,
  })
  return withJson(usage, quotaUsageView)
}
