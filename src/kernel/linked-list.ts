/** Where an item stands in a list. Once removed, it refers to no other place. */
export interface Place<T> {
  readonly item: T
  before: Place<T> | undefined
  after: Place<T> | undefined
}

/** Items in order; any of them can be removed without looking for it. */
export interface LinkedList<T> extends Iterable<T> {
  readonly size: number
  readonly first: Place<T> | undefined
  append(item: T): Place<T>
  /** Leaves alone what is removed already. */
  remove(place: Place<T>): void
  /** Of an item that is still in the list. */
  moveToEnd(place: Place<T>): void
}

/**
 * For what comes and goes with every call. A `Set` or `Map` gets a new table each time that so much
 * was deleted, and the old table refers to it and still holds what was deleted: once the collector
 * has moved one table to its old generation, all that pass through later survive with it, until a
 * collection of everything.
 */
export function createLinkedList<T>(): LinkedList<T> {
  let first: Place<T> | undefined
  let last: Place<T> | undefined
  let size = 0
  const insert = (place: Place<T>) => {
    if (place.before === undefined) first = place
    else place.before.after = place
    if (place.after === undefined) last = place
    else place.after.before = place
    size += 1
    return place
  }
  const remove = (place: Place<T>) => {
    const { before, after } = place
    if (before === undefined && first !== place) return
    if (before === undefined) first = after
    else before.after = after
    if (after === undefined) last = before
    else after.before = before
    place.before = undefined
    place.after = undefined
    size -= 1
  }
  return {
    get size() {
      return size
    },
    get first() {
      return first
    },
    append: (item) => insert({ item, before: last, after: undefined }),
    remove,
    moveToEnd(place) {
      if (place === last) return
      remove(place)
      place.before = last
      insert(place)
    },
    /** The item at hand may be removed meanwhile, and only that one. */
    *[Symbol.iterator]() {
      let place = first
      while (place !== undefined) {
        const { item, after } = place
        yield item
        place = after
      }
    },
  }
}
