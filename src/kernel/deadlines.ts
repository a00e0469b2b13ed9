import type { Duration } from './duration.ts'

/** Things that each have the same time; one timer watches over all of them. */
export interface Deadlines<T> {
  add(item: T): void
  /** It is done in time. */
  delete(item: T): void
}

/** `onDue` is called with each whose time is up; by then it is forgotten. */
export function createDeadlines<T>(after: Duration, onDue: (item: T) => void): Deadlines<T> {
  /** In the order in which they come due. */
  const dueAt = new Map<T, number>()
  let timer: NodeJS.Timeout | undefined
  const watch = () => {
    clearTimeout(timer)
    const [first] = dueAt.values()
    const left = (due: number) => Math.max(0, due - performance.now())
    timer = first === undefined ? undefined : setTimeout(look, left(first))
  }
  const look = () => {
    const now = performance.now()
    try {
      for (const [item, due] of dueAt) {
        if (due > now) return
        dueAt.delete(item)
        onDue(item)
      }
    } finally {
      // Only here: whatever was added or deleted meanwhile, there is one timer.
      watch()
    }
  }
  return {
    add(item) {
      // Last in the order, even if it waits already.
      dueAt.delete(item)
      dueAt.set(item, performance.now() + after)
      timer ??= setTimeout(look, after)
    },
    delete(item) {
      dueAt.delete(item)
      if (dueAt.size > 0) return
      clearTimeout(timer)
      timer = undefined
    },
  }
}
