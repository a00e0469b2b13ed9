import type { BillingCore } from '../billing/types.ts'
import type { Listener } from '../listeners/listener.ts'
import { eventTypes, type BillingEvent, type EventOf, type EventType } from '../events/catalogue.ts'

/** The events that listeners got, in the order of the commits; without what was rolled back. */
export interface EventRecorder {
  readonly all: readonly BillingEvent[]
  of<T extends EventType>(type: T): readonly EventOf<T>[]
  /** The events of a payment, and those of its refunds. */
  about(payment: { readonly id: string }): readonly BillingEvent[]
  /**
   * The first event of the type, past or to come, that fits. Fails after `withinMs` (default 5,000)
   * with what happened instead.
   */
  waitFor<T extends EventType>(
    type: T,
    options?: {
      readonly where?: (event: EventOf<T>) => boolean
      readonly withinMs?: number
    },
  ): Promise<EventOf<T>>
}

export interface RecordedEvents extends EventRecorder {
  /** Ends every `waitFor` that is under way, which is told what came first. */
  stop(first: string): void
  /** The same, and forgets what was recorded. */
  clear(): void
}

const recorderName = 'quittance test recorder'
const defaultWaitMs = 5_000

interface Wait {
  look(): void
  fail(reason: string): void
}

/** Listens to every event of a billing that has not begun to work. */
export function recordEvents(core: BillingCore): RecordedEvents {
  const all: BillingEvent[] = []
  const waits = new Set<Wait>()
  const record = (event: BillingEvent) => {
    all.push(event)
    for (const wait of waits) wait.look()
  }
  const listen: Listener<EventType> = (event, { afterCommit }) => afterCommit(() => record(event))
  core.on(eventTypes, recorderName, listen, { superseded: true })
  const of = <T extends EventType>(type: T) =>
    all.filter((event) => event.type === type) as unknown as readonly EventOf<T>[]
  const stop = (first: string) => {
    for (const wait of waits) wait.fail(`before ${first}`)
  }
  return {
    all,
    of,
    about: ({ id }) =>
      all.filter((event) => {
        const payment = 'payment' in event ? event.payment : null
        return payment !== null && [payment.id, payment.parentId].includes(id)
      }),
    waitFor: (type, { where = () => true, withinMs = defaultWaitMs } = {}) => {
      const find = () => of(type).find(where)
      const failure = (reason: string) => new Error(`no ${type} ${reason}; ${recorded(all)}`)
      return waitIn(waits, { find, failure, withinMs })
    },
    stop,
    clear: () => {
      stop('the billing was reset')
      all.length = 0
    },
  }
}

interface Sought<T> {
  find(): T | undefined
  failure(reason: string): Error
  readonly withinMs: number
}

function waitIn<T>(waits: Set<Wait>, { find, failure, withinMs }: Sought<T>): Promise<T> {
  return new Promise((found, failed) => {
    const end = (report: () => void) => {
      clearTimeout(timer)
      waits.delete(wait)
      report()
    }
    const wait: Wait = {
      look: () => {
        const event = find()
        if (event !== undefined) end(() => found(event))
      },
      fail: (reason) => end(() => failed(failure(reason))),
    }
    const timer = setTimeout(() => wait.fail(`within ${withinMs} ms`), withinMs)
    waits.add(wait)
    wait.look()
  })
}

function recorded(all: readonly BillingEvent[]): string {
  if (all.length === 0) return 'no event was recorded'
  const lines = all.map((event) => `${event.type} (${event.dedupKey})`)
  return `recorded so far: ${lines.join(', ')}`
}
