import { InvalidArgumentError } from 'commander'
import { systemClock } from '../kernel/clock.ts'
import { days, hours, minutes, type Duration } from '../kernel/duration.ts'

const isoTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/

/** A time in ISO 8601, or a day, which means its beginning in UTC; undefined for anything else. */
function isoTimeOf(text: string): Date | undefined {
  const time = new Date(isoTime.test(text) ? text : '')
  return Number.isNaN(time.getTime()) || !isDay(text.slice(0, 10)) ? undefined : time
}

/** `Date` takes 31 February for 3 March. */
function isDay(text: string): boolean {
  return new Date(text).toISOString().startsWith(text)
}

/** A time as the value of an option. */
export function readTime(text: string): Date {
  const time = isoTimeOf(text)
  if (time !== undefined) return time
  throw new InvalidArgumentError('It must be a time such as 2026-11-20T09:30Z.')
}

const units: Readonly<Record<string, (count: number) => Duration>> = {
  m: minutes,
  h: hours,
  d: days,
}

function lengthOf(text: string): Duration | undefined {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  return units[unit]?.(Number(count))
}

/** The same, or how long ago. */
export function readSince(text: string): Date {
  const length = lengthOf(text)
  const time = length === undefined ? isoTimeOf(text) : new Date(systemClock().getTime() - length)
  if (time !== undefined) return time
  throw new InvalidArgumentError(
    'It must be a length such as 90m, 24h or 7d, or a time such as 2026-11-20T09:30Z.',
  )
}

/** A length such as `90m`, `24h` or `7d`: until when it lasts from now on. */
export function readWithin(text: string): Date {
  const length = lengthOf(text)
  if (length !== undefined) return new Date(systemClock().getTime() + length)
  throw new InvalidArgumentError('It must be a length such as 90m, 24h or 7d.')
}
