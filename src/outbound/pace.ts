import { seconds, type Duration } from '../kernel/duration.ts'

/** How fast requests may begin. */
export interface Pace {
  mayBegin(): boolean
  begin(): void
  /** How long until one may begin; undefined: at once. */
  pause(): Duration | undefined
}

/** What was not begun in time may be made up for, up to so long: timers are late by a little. */
const madeUpFor: Duration = 100

/** So many in a second, evenly; null: no limit. */
export function createPace(perSecond: number | null): Pace {
  const apart = perSecond === null ? 0 : seconds(1) / perSecond
  let nextAt = -Infinity
  const left = () => nextAt - performance.now()
  return {
    mayBegin: () => left() <= 0,
    begin() {
      nextAt = Math.max(nextAt, performance.now() - madeUpFor) + apart
    },
    pause: () => (left() > 0 ? Math.ceil(left()) : undefined),
  }
}
