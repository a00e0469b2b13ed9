import { days, type Duration } from './duration.ts'

// By `Intl` alone: Node 22 and 24 have no `Temporal`.

/** A time of day on a date, as a clock on a wall shows it: milliseconds as if it were in UTC. */
export type WallTime = number

/** What the clocks of a zone show at a time. */
export function wallTime(time: number, timeZone: string): WallTime {
  return time + offsetAt(time, timeZone)
}

/**
 * When the clocks of a zone show this. Where they skip it, it is as much later as they skip; where
 * they show it twice, it is the first time.
 */
export function timeOfWall(wall: WallTime, timeZone: string): number {
  // No zone is further than a day from UTC, so these are on both sides of a change nearby.
  const before = offsetAt(wall - days(1), timeZone)
  const after = offsetAt(wall + days(1), timeZone)
  const byEarlier = wall - before
  if (offsetAt(byEarlier, timeZone) === before) return byEarlier
  const byLater = wall - after
  return offsetAt(byLater, timeZone) === after ? byLater : byEarlier
}

/** The same time of day so many days later, as the clocks of a zone count days. */
export function daysLater(at: Date, count: number, timeZone: string): Date {
  if (count === 0) return at
  return new Date(timeOfWall(wallTime(at.getTime(), timeZone) + days(count), timeZone))
}

/** Making one takes a hundred times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  formats.set(timeZone, format)
  return format
}

/** How far the clocks of a zone are ahead of UTC: whole seconds, as zones are. */
function offsetAt(time: number, timeZone: string): Duration {
  const second = Math.floor(time / 1000) * 1000
  // 11/20/2026, 14:00:00
  const text = formatOf(timeZone).format(second)
  const date = `${text.slice(6, 10)}-${text.slice(0, 2)}-${text.slice(3, 5)}`
  return Date.parse(`${date}T${text.slice(12)}Z`) - second
}
