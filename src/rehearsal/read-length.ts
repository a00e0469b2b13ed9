import { days, hours, minutes, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { boundary } from '../subscriptions/boundary.ts'
import { readInterval } from '../subscriptions/interval.ts'

/** Of the same length on any calendar. */
const units: Readonly<Record<string, (count: number) => Duration>> = {
  minute: minutes,
  hour: hours,
  day: days,
}

/**
 * When that time is over: `35 days`, `2 months`, `90 minutes`; months are those of the calendar, in
 * UTC. Error: `usage`.
 */
export function endOf(length: string, from: Date): Date {
  const [, count = '1', unit = ''] = /^(?:(\d{1,6}) )?(minute|hour|day)s?$/.exec(length) ?? []
  const lengthOf = units[unit]
  if (lengthOf !== undefined) return new Date(from.getTime() + lengthOf(Number(count)))
  const every = readInterval(length)
  if (every !== undefined) return boundary({ anchorAt: from, every, timeZone: 'UTC' }, 1)
  throw new QuittanceError('usage', `${JSON.stringify(length)} is no length of time`, {
    fix: 'Write it like "35 days", "2 months" or "90 minutes".',
  })
}
