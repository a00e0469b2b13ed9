import pg from 'pg'
import type { Database } from '../database/connect.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import { coalesce } from './coalesce.ts'
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
  const notify = coalesce(() => database.pool.query(`notify ${channel}`), notifyEvery)
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
        database.kind === 'postgres' ? listen(database, onWork, { log, reconnectAfter }) : undefined
      return async () => {
        workers.delete(onWork)
        await stopListening?.()
      }
    },
  }
}

/** Holds its own connection on the channel, and opens a new one whenever it is lost. */
function listen(
  database: Database,
  onNotify: () => void,
  { log, reconnectAfter }: { readonly log: Log; readonly reconnectAfter: Duration },
): () => Promise<void> {
  let pause: NodeJS.Timeout | undefined
  const open = () => {
    const client = new pg.Client({
      ...database.connection,
      application_name: workerApplicationName,
    })
    let ended: Promise<void> | undefined
    const lose = (error: unknown) => {
      if (ended !== undefined) return
      ended = client.end()
      log.warn({ err: error }, 'notifications lost, listening again')
      pause = setTimeout(() => {
        current = open()
      }, reconnectAfter)
    }
    client.on('error', lose)
    client.on('notification', onNotify)
    startListening(client).then(onNotify).catch(lose)
    return { lose, end: () => (ended ??= client.end()) }
  }
  let current = open()
  const forget = database.onReconnect(() => current.lose(new Error('it led to a read-only server')))
  return async () => {
    forget()
    clearTimeout(pause)
    await current.end()
  }
}

/** The processes that store calls notify there; on another server this would listen in vain. */
async function startListening(client: pg.Client): Promise<void> {
  await client.connect()
  await client.query(`listen ${channel}`)
  const { rowCount } = await client.query(
    `select where current_setting('transaction_read_only') = 'on'`,
  )
  if (rowCount !== 0) throw new Error('the server is read-only')
}
