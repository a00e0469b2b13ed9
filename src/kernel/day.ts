import { days } from './duration.ts'

/** A day in UTC by its name: `2026-11-26`. */
export type Day = string

const spelt = /^\d{4}-\d\d-\d\d$/

/** Whether a text names a day that there is, from 1970 on. */
export function isDay(text: string): boolean {
  if (!spelt.test(text)) return false
  const at = startOfDay(text)
  // `Date` takes 31 February for 3 March.
  return !Number.isNaN(at.getTime()) && at.getTime() >= 0 && dayOf(at) === text
}

/** The day of a time. */
export function dayOf(at: Date): Day {
  return at.toISOString().slice(0, 10)
}

export function startOfDay(day: Day): Date {
  return new Date(`${day}T00:00:00Z`)
}

/** So many days later, or earlier. */
export function dayAfter(day: Day, count = 1): Day {
  return dayOf(new Date(startOfDay(day).getTime() + days(count)))
}

/** How many days there are, both included; none, or less, if the second one is earlier. */
export function countDays(from: Day, to: Day): number {
  // All days in UTC have the same length.
  return (startOfDay(to).getTime() - startOfDay(from).getTime()) / days(1) + 1
}

/** The first and the last day of a month by its name, such as `2026-11`; undefined: it names none. */
export function daysOfMonth(month: string): { readonly from: Day; readonly to: Day } | undefined {
  const from = `${month}-01`
  if (!isDay(from)) return undefined
  const to = startOfDay(from)
  to.setUTCMonth(to.getUTCMonth() + 1, 0)
  return { from, to: dayOf(to) }
}
