import { seconds, type Duration } from '../kernel/duration.ts'

/** Gateways whose callbacks take long to interpret for now, because they ask a slow provider. */
export interface SlowGateways {
  /** Runs an interpretation; one that takes long puts its gateway among the slow ones. */
  watch<T>(watched: Watched<T>): Promise<T>
  names(): readonly string[]
}

/** An interpretation, and who wants to know that it takes long. */
export interface Watched<T> {
  readonly gateway: string
  readonly interpret: () => Promise<T>
  readonly onSlow: () => void
}

const slowAfter: Duration = seconds(1)
/** How long a gateway stays among them after its last slow interpretation. */
const slowFor: Duration = seconds(30)

/** `onNew` is told when a gateway becomes slow. */
export function createSlowGateways(onNew: () => void): SlowGateways {
  const until = new Map<string, number>()
  const mark = (gateway: string) => {
    const isNew = !until.has(gateway)
    until.set(gateway, performance.now() + slowFor)
    if (isNew) onNew()
  }
  return {
    async watch({ gateway, interpret, onSlow }) {
      const timer = setTimeout(() => {
        mark(gateway)
        onSlow()
      }, slowAfter)
      try {
        return await interpret()
      } finally {
        clearTimeout(timer)
      }
    },
    names() {
      const now = performance.now()
      for (const [gateway, end] of until) if (end <= now) until.delete(gateway)
      return [...until.keys()]
    },
  }
}
