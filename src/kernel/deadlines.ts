import type { Duration } from './duration.ts'
import { createLinkedList, type Place } from './linked-list.ts'

/** Things that each have the same time; one timer watches over all of them. */
export interface Deadlines<T> {
  add(item: T): Deadline<T>
  /** It is done in time. */
  delete(deadline: Deadline<T>): void
}

export type Deadline<T> = Place<{ readonly item: T; readonly due: number }>

/** `onDue` is called with each whose time is up; by then it is forgotten. */
export function createDeadlines<T>(after: Duration, onDue: (item: T) => void): Deadlines<T> {
  /** In the order in which they come due. */
  const waiting = createLinkedList<Deadline<T>['item']>()
  let timer: NodeJS.Timeout | undefined
  const watch = () => {
    clearTimeout(timer)
    const due = waiting.first?.item.due
    timer = due === undefined ? undefined : setTimeout(look, Math.max(0, due - performance.now()))
  }
  const look = () => {
    const now = performance.now()
    try {
      let next = waiting.first
      while (next !== undefined && next.item.due <= now) {
        waiting.remove(next)
        onDue(next.item.item)
        next = waiting.first
      }
    } finally {
      // Only here: whatever was added or deleted meanwhile, there is one timer.
      watch()
    }
  }
  return {
    add(item) {
      timer ??= setTimeout(look, after)
      return waiting.append({ item, due: performance.now() + after })
    },
    delete(deadline) {
      waiting.remove(deadline)
      if (waiting.size > 0) return
      clearTimeout(timer)
      timer = undefined
    },
  }
}
