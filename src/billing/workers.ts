import { QuittanceError } from '../kernel/errors.ts'
import type { HandOver } from '../queue/hand-over.ts'
import type { LocalWorker, Worker } from '../worker/worker.ts'

/** The workers of one billing, including those that are just starting. */
export interface Workers {
  readonly begun: boolean
  start(make: () => Promise<LocalWorker>): Promise<Worker>
  wake: LocalWorker['wake']
  /** The one that has most room for calls as they are stored. */
  handOver(): HandOver | undefined
  /** Ends all of them; none starts afterwards. */
  stop(): Promise<void>
}

export function createWorkers(): Workers {
  const starting: Promise<LocalWorker>[] = []
  const running: LocalWorker[] = []
  let stopped = false
  return {
    get begun() {
      return starting.length > 0
    },
    async start(make) {
      if (stopped) throw new QuittanceError('billing_closed', 'billing.work was called after close')
      const start = make()
      starting.push(start)
      const worker = await start
      running.push(worker)
      return worker
    },
    wake(what) {
      for (const worker of running) worker.wake(what)
    },
    handOver: () =>
      running.flatMap(({ handOver }) => handOver ?? []).toSorted((a, b) => b.room() - a.room())[0],
    async stop() {
      stopped = true
      for (const start of await Promise.allSettled(starting)) {
        if (start.status === 'fulfilled') await start.value.stop()
      }
    },
  }
}
