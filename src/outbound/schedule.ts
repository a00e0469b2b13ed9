import { days, hours, minutes, seconds, type Duration } from '../kernel/duration.ts'

/**
 * How long after each failed attempt the next one follows: ten attempts in three days, the example of
 * Standard Webhooks.
 */
const afterAttempt: readonly Duration[] = [
  seconds(5),
  minutes(5),
  minutes(30),
  hours(2),
  hours(5),
  hours(10),
  hours(14),
  hours(20),
  hours(24),
]

/** Attempts of one event, the first included. */
export const mostAttempts = afterAttempt.length + 1

/** So much earlier or later, that many which failed together do not come back together. */
const spread = 0.2

/** When the next attempt is due after so many; undefined: no more. `random`: 0 to 1. */
export function nextAttemptAfter(attempts: number, random: number): Duration | undefined {
  const pause = afterAttempt[attempts - 1]
  return pause === undefined ? undefined : Math.round(pause * (1 + spread * (2 * random - 1)))
}

/** Failures in a row after which an endpoint is left alone but for probes. */
export const failuresToOpen = 5

const afterProbe: readonly Duration[] = [
  seconds(30),
  minutes(1),
  minutes(2),
  minutes(5),
  minutes(10),
]
const lastProbe = minutes(15)

/** How long an endpoint that has failed so often in a row is left alone; undefined: not at all. */
export function restAfter(failures: number): Duration | undefined {
  if (failures < failuresToOpen) return undefined
  return afterProbe[failures - failuresToOpen] ?? lastProbe
}

/** An endpoint that has only failed for so long is disabled. */
export const failingDisabledAfter = days(5)

const longestRetryAfter = hours(24)
/** Where whoever is overloaded does not say for how long. */
const defaultRetryAfter = seconds(60)
const overloaded = new Set([429, 502, 503, 504])
/** The three forms of a date in HTTP. `Date.parse` alone takes almost any text that has a number. */
const httpDate = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? [\w :-]+$/i

/**
 * How long an answer asks that nothing be sent: `Retry-After` in seconds or as a date; undefined: it
 * asks nothing. Source: RFC 9110, section 10.2.3.
 */
export function retryAfterOf(
  status: number,
  header: string | undefined,
  now: Date,
): Duration | undefined {
  if (!overloaded.has(status)) return undefined
  const text = header?.trim() ?? ''
  const asked = /^\d+$/.test(text) ? seconds(Number(text)) : timeOf(text) - now.getTime()
  if (Number.isNaN(asked)) return defaultRetryAfter
  return Math.min(Math.max(asked, 0), longestRetryAfter)
}

/** Its third form names no zone; all are GMT. */
function timeOf(text: string): number {
  if (!httpDate.test(text)) return Number.NaN
  return Date.parse(/GMT$/i.test(text) ? text : `${text} GMT`)
}
