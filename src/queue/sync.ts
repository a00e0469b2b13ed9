import type { QueueConnection } from './queue.ts'

/**
 * Calls are processed inside the request, after their commit. One attempt: its failure is answered
 * 500, so that the gateway's own redelivery is the retry.
 */
export function syncQueue(): QueueConnection {
  const workers = new Set<() => void>()
  return {
    name: 'sync',
    inline: true,
    async announce() {
      for (const wake of workers) wake()
    },
    async told() {},
    async subscribe(onWork) {
      workers.add(onWork)
      return async () => {
        workers.delete(onWork)
      }
    },
  }
}
