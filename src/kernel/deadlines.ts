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
  const look = () => {
    timer = undefined
    const now = performance.now()
    for (const [item, due] of dueAt) {
      if (due > now) {
        timer = setTimeout(look, due - now)
        return
      }
      dueAt.delete(item)
      onDue(item)
    }
  }
  return {
    add(item) {
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
