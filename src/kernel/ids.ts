import { v7 } from 'uuid'
import { systemClock } from './clock.ts'
import { minutes } from './duration.ts'

/** Makes a UUID v7: unique, and ordered by creation time. */
export type NewId = () => string

const randomBytes = 16
/** Random bytes are drawn for many ids at once: a draw costs as much as the rest of an id. */
const drawn = Buffer.alloc(256 * randomBytes)
let used = drawn.length
let latest = 0
let sequence = 0
/** Half of what ids may be off by where they are looked for by their time. */
const mostBack = minutes(5)

/**
 * The package keeps the order within a millisecond only where it reads the clock itself; and it draws
 * random bytes for each id, which takes about four times as long.
 */
export const newUuid: NewId = () => {
  const random = nextRandom()
  const now = systemClock().getTime()
  // Within a millisecond, or after the clock went back a little, counting keeps the order. Of a clock
  // that was far ahead nothing is kept: ids are looked for by their time.
  const later = now > latest || now < latest - mostBack
  if (later) latest = now
  sequence = later ? random.readUInt32BE() >>> 2 : sequence + 1
  return v7({ random, msecs: latest, seq: sequence })
}

/**
 * The smallest id of this time: every id that was made then or later is larger, if the clock of
 * whoever made it was right.
 */
export function idAt(time: Date): string {
  return v7({ random: new Uint8Array(randomBytes), msecs: Math.max(0, time.getTime()), seq: 0 })
}

/** When an id of ours was made, in milliseconds since 1970, by the clock of whoever made it. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

function nextRandom(): Buffer {
  if (used === drawn.length) {
    crypto.getRandomValues(drawn)
    used = 0
  }
  const random = drawn.subarray(used, used + randomBytes)
  used += randomBytes
  return random
}

/** A fraction from 0 up to 1, for jitter only. */
export const randomFraction = (): number => Math.random()
