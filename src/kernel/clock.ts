/** Where the time comes from. Queue timing uses the database's clock instead. */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()

/** A clock that stands still until it is set; other threads read it, too. */
export interface StillClock {
  readonly now: Clock
  set(time: Date): void
  /** One double: milliseconds since 1970. */
  readonly shared: SharedArrayBuffer
}

export function createStillClock(start: Date): StillClock {
  const shared = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT)
  const cell = new Float64Array(shared)
  cell[0] = start.getTime()
  return {
    now: () => new Date(readStillClock(cell)),
    set: (time) => {
      cell[0] = time.getTime()
    },
    shared,
  }
}

export function readStillClock(cell: Float64Array): number {
  return cell[0] ?? Number.NaN
}
