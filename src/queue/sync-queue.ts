import type { QueueConnection } from './queue.ts'

/**
 * Calls have their first attempt inside the request, after their commit: what is not done then is
 * not acknowledged. Workers make the other attempts, while the gateway sends the callback again.
 */
export function syncQueue(): QueueConnection {
  const workers = new Set<() => void>()
  return {
    name: 'sync',
    inline: true,
    async announce() {
      for (const wake of workers) wake()
    },
    async flushed() {},
    async subscribe(onWork) {
      workers.add(onWork)
      return async () => {
        workers.delete(onWork)
      }
    },
  }
}
