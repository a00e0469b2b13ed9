import { z } from 'zod'
import { must, text, time } from '../kernel/input-rules.ts'
import { isTimeZone } from '../kernel/time-zone.ts'
import {
  intervalForms,
  intervalRule,
  readInterval,
  type IntervalInput,
} from '../subscriptions/interval.ts'
import type { Interval } from '../subscriptions/subscription.ts'

const rule = must(intervalRule)

/** The length of a period, in any form that `readInterval` takes: the same for settings and input. */
export const every = z
  .unknown()
  .transform((given, context): Interval => {
    const interval = readInterval(given)
    if (interval !== undefined) return interval
    context.addIssue({ code: 'custom', message: rule.error({ input: given }) })
    return z.NEVER
  })
  .meta({ anyOf: intervalForms }) as z.ZodType as z.ZodType<Interval, IntervalInput>

const mostTrialDays = 730
const trialRule = must(`must be a whole number of days from 0 to ${mostTrialDays}`)
export const trialDays = z.int(trialRule).min(0, trialRule).max(mostTrialDays, trialRule)

const zoneRule = must('must be the IANA name of a time zone, such as Europe/Kyiv')
/** Offsets (`+02:00`) are no zones: they know no summer time. */
export const timeZone = text(100).refine(isTimeZone, zoneRule)

const farthest = 9000
const timeRule = must(
  `must be a time in ISO 8601, such as 2026-11-20T09:30:00Z, before the year ${farthest}`,
)
/** Periods are counted from it, the longest of which still end in a year of four digits. */
export const countable = time.refine(
  (at) => at.getTime() >= 0 && at.getUTCFullYear() < farthest,
  timeRule,
)
