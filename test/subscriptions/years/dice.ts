/** Chance that a seed decides: the same seed, the same life. */
export interface Dice {
  /** From 0 up to 1. */
  readonly roll: () => number
  /** True so often, of 1. */
  readonly chance: (share: number) => boolean
  /** A whole number below the limit. */
  readonly below: (limit: number) => number
  readonly pick: <T>(from: readonly [T, ...T[]]) => T
}

/** The generator `mulberry32`. */
export function diceOf(seed: number): Dice {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  const roll = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
  const below = (limit: number) => Math.floor(roll() * limit)
  return {
    roll,
    chance: (share) => roll() < share,
    below,
    pick: (from) => from[below(from.length)] ?? from[0],
  }
}
