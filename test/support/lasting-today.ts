import { setTimeout as pause } from 'node:timers/promises'
import { dayAfter, dayOf, startOfDay, type Day } from '../../src/kernel/day.ts'
import { minutes, seconds } from '../../src/kernel/duration.ts'

/** Some tests write what happened in the first seconds of a day. */
const begun = seconds(30)
/** Longer than any test file about days takes. */
const lasting = minutes(2)

/** Today in UTC, away from midnight: a test that takes it for today would fail there. */
export async function lastingToday(): Promise<Day> {
  const now = Date.now()
  const today = dayOf(new Date(now))
  const since = now - startOfDay(today).getTime()
  const left = startOfDay(dayAfter(today)).getTime() - now
  if (left < lasting) await pause(left + begun)
  else if (since < begun) await pause(begun - since)
  return dayOf(new Date())
}
