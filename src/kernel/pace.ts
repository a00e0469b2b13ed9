import type { Duration } from './duration.ts'

/** How fast something may begin. */
export interface Pace {
  /** How many may begin now. */
  room(): number
  /** Counts one. */
  begin(): void
  /** One that was counted has not begun. */
  giveBack(): void
  /** How long until one may begin; undefined: at once. */
  wait(): Duration | undefined
}

export interface PaceOptions {
  /** How long from one to the next; 0: there is no limit. */
  readonly apart: Duration
  /** What was not begun in time may be made up for, up to so long. */
  readonly madeUpFor: Duration
  /** In milliseconds; it only grows. */
  readonly now?: () => Duration
}

/** One after the other, evenly. */
export function createPace({ apart, madeUpFor, now = monotonic }: PaceOptions): Pace {
  let nextAt = -Infinity
  const dueAt = (time: Duration) => Math.max(nextAt, time - madeUpFor)
  return {
    room: () => {
      const time = now()
      const early = time - dueAt(time)
      if (early < 0) return 0
      // The times are fractions: their difference may be a whole number but for its last digit.
      return apart === 0 ? Infinity : 1 + Math.floor(early / apart + 1e-6)
    },
    begin() {
      nextAt = dueAt(now()) + apart
    },
    giveBack() {
      nextAt -= apart
    },
    wait: () => (nextAt > now() ? Math.ceil(nextAt - now()) : undefined),
  }
}

const monotonic = () => performance.now()
