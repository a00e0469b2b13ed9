import { QuittanceError } from '../kernel/errors.ts'
import type { Worker } from '../worker/worker.ts'

/** The workers of one billing, including those that are just starting. */
export interface Workers {
  readonly begun: boolean
  start(make: () => Promise<Worker>): Promise<Worker>
  wake(): void
  /** Ends all of them; none starts afterwards. */
  stop(): Promise<void>
}

export function createWorkers(): Workers {
  const starting: Promise<Worker>[] = []
  const running: Worker[] = []
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
    wake() {
      for (const worker of running) worker.wake()
    },
    async stop() {
      stopped = true
      for (const start of await Promise.allSettled(starting)) {
        if (start.status === 'fulfilled') await start.value.stop()
      }
    },
  }
}
