/** Requests of one process that may be under way at the same time. */
export interface Slots {
  /** False: there is none now; `onFree` is called once there may be. */
  take(isFailing: boolean): boolean
  leave(isFailing: boolean): void
}

/** Endpoints that fail have a quarter: they must not hold up the others. */
const failingShare = 4

export function createSlots(most: number, onFree: () => void): Slots {
  let taken = 0
  let takenByFailing = 0
  let isMissed = false
  const mayTake = (isFailing: boolean) =>
    taken < most && (!isFailing || takenByFailing < Math.max(1, Math.floor(most / failingShare)))
  return {
    take(isFailing) {
      if (!mayTake(isFailing)) {
        isMissed = true
        return false
      }
      taken += 1
      if (isFailing) takenByFailing += 1
      return true
    },
    leave(isFailing) {
      taken -= 1
      if (isFailing) takenByFailing -= 1
      if (!isMissed) return
      isMissed = false
      onFree()
    },
  }
}
