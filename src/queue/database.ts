import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Database } from '../database/connect.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import type { QueueConnection } from './queue.ts'

const channel = 'quittance_calls'
/** A notification is a separate commit; a worker that was just woken looks again anyway. */
const notifyEvery: Duration = 5
/** The name under which the server sees a working process. */
export const workerApplicationName = 'quittance worker'

/**
 * The stored call is its own place in the queue. Workers in this process are woken directly, those
 * in others by NOTIFY; what gets lost is found by their poll every second.
 */
export function databaseQueue(database: Database, log: Log): QueueConnection {
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
      const stopListening = database.kind === 'postgres' ? listen(database, onWork, log) : undefined
      return async () => {
        workers.delete(onWork)
        await stopListening?.()
      }
    },
  }
}

const reconnectPauseMs = seconds(1)

/** Holds its own connection on the channel, and opens a new one whenever it is lost. */
function listen(database: Database, onNotify: () => void, log: Log): () => Promise<void> {
  let stopped = false
  let current: pg.Client | undefined
  let pause: NodeJS.Timeout | undefined
  let drop: (error: unknown) => void = () => {}

  const again = (error: unknown) => {
    if (stopped) return
    log.warn({ err: error }, 'notifications lost, listening again')
    pause = setTimeout(() => void open(), reconnectPauseMs)
  }
  const open = async () => {
    const client = new pg.Client({
      ...database.connection,
      application_name: workerApplicationName,
    })
    current = client
    let lost = false
    const once = (error: unknown) => {
      if (lost) return
      lost = true
      client.end().catch(() => {})
      again(error)
    }
    drop = once
    client.on('error', once)
    client.on('end', () => once(new Error('connection ended')))
    client.on('notification', onNotify)
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      await requireWriter(client)
      onNotify()
    } catch (error) {
      once(error)
    }
  }
  const forget = database.onReconnect(() => drop(new Error('it led to a read-only server')))
  void open()
  return async () => {
    stopped = true
    forget()
    clearTimeout(pause)
    await current?.end().catch(() => {})
  }
}

/** The processes that store calls notify there; on another server this would listen in vain. */
async function requireWriter(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ read_only: string }>(
    `select current_setting('transaction_read_only') as read_only`,
  )
  if (rows[0]?.read_only === 'on') throw new Error('the server is read-only')
}

/**
 * One at a time, started at most once per `every`. However many ask meanwhile, one more run serves
 * all of them. Resolves for each caller with a run that started after it asked.
 */
function coalesce(work: () => Promise<unknown>, every: Duration) {
  let current: Promise<unknown> | undefined
  let next: Promise<unknown> | undefined
  const start = () => {
    const done = work()
    current = Promise.allSettled([done, delay(every)]).then(() => {
      current = undefined
    })
    return done
  }
  const follow = async (running: Promise<unknown>) => {
    await running
    next = undefined
    await start()
  }
  return {
    ask(): Promise<unknown> {
      if (next !== undefined) return next
      if (current === undefined) return start()
      next = follow(current)
      return next
    },
    async ended(): Promise<void> {
      while (next !== undefined || current !== undefined) {
        await Promise.allSettled([next, current])
      }
    },
  }
}
