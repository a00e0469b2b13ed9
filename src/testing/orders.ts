/** Every order of the items, one after another; n items have n! of them. */
export function* everyOrder<T>(items: readonly T[]): Generator<readonly T[], void, undefined> {
  if (items.length <= 1) {
    yield [...items]
    return
  }
  for (const [index, first] of items.entries()) {
    for (const rest of everyOrder(items.toSpliced(index, 1))) yield [first, ...rest]
  }
}

/** An order that looks random and is the same for the same seed, so that a failure can be repeated. */
export function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  const next = fractions(seed)
  return items
    .map((item) => ({ item, place: next() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

/** The generator `mulberry32`: small, and even enough to shuffle. */
function fractions(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
