import type { Duration } from '../kernel/duration.ts'
import { failuresToOpen, restAfter } from './schedule.ts'
import type { Sent } from './send.ts'

/** How an endpoint fares. */
export interface Health {
  /** Failures in a row. */
  readonly failures: number
  /** Requests that may be under way at the same time: one more for each success. */
  readonly slots: number
  /** Nothing is to be sent for so long; undefined: at once. */
  readonly rest: Duration | undefined
}

/** Whether only probes are sent, one at a time. */
export function isOpen({ failures }: Pick<Health, 'failures'>): boolean {
  return failures >= failuresToOpen
}

export function healthAtStart(failures: number): Health {
  return { failures, slots: 1, rest: undefined }
}

/** The health after one more request. */
export function healthAfter(
  { failures, slots, rest }: Health,
  { result, retryAfter }: Pick<Sent, 'result' | 'retryAfter'>,
  mostSlots: number,
): Health {
  if (result === 'delivered') {
    return { failures: 0, slots: Math.min(slots + 1, mostSlots), rest }
  }
  // Once it is left alone, what fails was under way before: one outage of a busy endpoint counts no
  // more than that of a quiet one. A probe comes later, with no rest before it.
  const wasUnderWay = isOpen({ failures }) && rest !== undefined
  const failed = wasUnderWay ? failures : failures + 1
  const asked = [retryAfter, restAfter(failed), rest].filter((one) => one !== undefined)
  return {
    failures: failed,
    slots: Math.max(1, Math.floor(slots / 2)),
    rest: asked.length === 0 ? undefined : Math.max(...asked),
  }
}
