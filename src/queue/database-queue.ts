import type { Database } from '../database/connect.ts'
import { listenOn } from '../database/listen.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import { shareRuns } from '../kernel/share-runs.ts'
import type { QueueConnection } from './queue.ts'

const channel = 'quittance_calls'
/** The name under which the server sees a working process. */
export const workerApplicationName = 'quittance worker'

/** Shorter ones are for tests. */
interface Pauses {
  /** A notification is a separate commit; a worker that was just woken looks again anyway. */
  readonly notifyEvery?: Duration
  readonly reconnectAfter?: Duration
}

/**
 * The stored call is its own place in the queue. Workers in this process are woken directly, those
 * in others by NOTIFY; what gets lost is found by their poll every second.
 */
export function databaseQueue(
  database: Database,
  log: Log,
  { notifyEvery = 5, reconnectAfter = seconds(1) }: Pauses = {},
): QueueConnection {
  const workers = new Map<() => void, { readonly everyQueue: boolean }>()
  const notify = shareRuns(
    () => database.pool.query(`notify ${database.schema.channel(channel)}`),
    notifyEvery,
  )
  const applicationName = workerApplicationName
  const listening = { channel, applicationName, log, reconnectAfter }
  return {
    name: 'database',
    inline: false,
    async announce() {
      for (const wake of workers.keys()) wake()
      // The embedded database serves its own process first, and forwards no notifications.
      const served = [...workers.values()].some(({ everyQueue }) => everyQueue)
      if (served || database.kind === 'embedded') return
      await notify.ask()
    },
    flushed: () => notify.ended(),
    async subscribe(onWork, options = { everyQueue: true }) {
      workers.set(onWork, options)
      const stopListening =
        database.kind === 'postgres' ? listenOn(database, onWork, listening) : undefined
      return async () => {
        workers.delete(onWork)
        await stopListening?.()
      }
    },
  }
}
