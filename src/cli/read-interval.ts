import { InvalidArgumentError } from 'commander'
import { readInterval } from '../subscriptions/interval.ts'
import type { Interval } from '../subscriptions/subscription.ts'

/** `month`, `3 months`, `3months`. */
export function readIntervalOption(text: string): Interval {
  const interval = readInterval(text.replace(/^(\d+)(?=[a-z])/, '$1 '))
  if (interval !== undefined) return interval
  throw new InvalidArgumentError('It must be day, week, month or year, or several: "3 months".')
}
