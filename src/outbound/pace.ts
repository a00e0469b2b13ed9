import { seconds, type Duration } from '../kernel/duration.ts'

/** How fast requests may begin. */
export interface Pace {
  mayBegin(): boolean
  begin(): void
  /** How long until one may begin; undefined: at once. */
  pause(): Duration | undefined
}

/** So many in a second, evenly; null: no limit. */
export function createPace(perSecond: number | null): Pace {
  const apart = perSecond === null ? 0 : seconds(1) / perSecond
  let nextAt = 0
  const left = () => nextAt - performance.now()
  return {
    mayBegin: () => left() <= 0,
    begin() {
      nextAt = Math.max(nextAt, performance.now() - seconds(1)) + apart
    },
    pause: () => (left() > 0 ? Math.ceil(left()) : undefined),
  }
}
