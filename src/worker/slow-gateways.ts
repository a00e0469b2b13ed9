import { createDeadlines } from '../kernel/deadlines.ts'
import { seconds, type Duration } from '../kernel/duration.ts'

/** Gateways whose callbacks take long to interpret for now, because they ask a slow provider. */
export interface SlowGateways {
  /**
   * Watches an interpretation: one that takes long puts its gateway among the slow ones, and
   * `onSlow` is called.
   */
  watch<T>(gateway: string, interpreting: Promise<T>, onSlow: () => void): Promise<T>
  names(): readonly string[]
}

const slowAfter: Duration = seconds(1)
/** How long a gateway stays among them after its last slow interpretation. */
const slowFor: Duration = seconds(30)

/** `onNew` is called when a gateway becomes slow. */
export function createSlowGateways(onNew: () => void): SlowGateways {
  const until = new Map<string, number>()
  const mark = (gateway: string) => {
    const isNew = !until.has(gateway)
    until.set(gateway, performance.now() + slowFor)
    if (isNew) onNew()
  }
  const deadlines = createDeadlines<() => void>(slowAfter, (expire) => expire())
  return {
    async watch(gateway, interpreting, onSlow) {
      const expire = () => {
        mark(gateway)
        onSlow()
      }
      const deadline = deadlines.add(expire)
      try {
        return await interpreting
      } finally {
        deadlines.delete(deadline)
      }
    },
    names() {
      const now = performance.now()
      for (const [gateway, end] of until) if (end <= now) until.delete(gateway)
      return [...until.keys()]
    },
  }
}
