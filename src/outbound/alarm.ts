import type { Duration } from '../kernel/duration.ts'

/** A pause that can be ended; one that was rung before is over at once. */
export function createAlarm() {
  let isRinging = false
  let end: (() => void) | undefined
  return {
    ring() {
      isRinging = true
      end?.()
    },
    async wait(length: Duration) {
      if (!isRinging) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, length)
          end = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      isRinging = false
      end = undefined
    },
  }
}
