import pg from 'pg'
import type { Database } from '../database/connect.ts'
import { seconds } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import type { QueueConnection } from './queue.ts'

const channel = 'quittance_calls'
/** The name by which a working process is seen on the server. */
export const workerApplicationName = 'quittance worker'

/**
 * The stored call is its own place in the queue. Workers in this process are woken directly, those
 * in others by NOTIFY; what gets lost is found by their look every second.
 */
export function databaseQueue(database: Database, log: Log): QueueConnection {
  const workers = new Map<() => void, { readonly everyQueue: boolean }>()
  const notify = coalesce(() => database.pool.query(`notify ${channel}`))
  return {
    name: 'database',
    inline: false,
    async announce() {
      for (const wake of workers.keys()) wake()
      // The embedded database serves its own process first, and passes no notifications on.
      const served = [...workers.values()].some(({ everyQueue }) => everyQueue)
      if (served || database.kind === 'embedded') return
      await notify()
    },
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

/** Holds a connection of its own on the channel, and takes a new one whenever it is lost. */
function listen(database: Database, onNotify: () => void, log: Log): () => Promise<void> {
  let stopped = false
  let current: pg.Client | undefined
  let pause: NodeJS.Timeout | undefined

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
    client.on('error', once)
    client.on('end', () => once(new Error('connection ended')))
    client.on('notification', onNotify)
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      onNotify()
    } catch (error) {
      once(error)
    }
  }
  void open()
  return async () => {
    stopped = true
    clearTimeout(pause)
    await current?.end().catch(() => {})
  }
}

/** However many ask while one is under way, one more follows for all of them. */
function coalesce(work: () => Promise<unknown>): () => Promise<void> {
  let current: Promise<void> | undefined
  let next: Promise<void> | undefined
  const start = async () => {
    try {
      await work()
    } finally {
      current = undefined
    }
  }
  const follow = async (running: Promise<void>) => {
    await running.catch(() => {})
    next = undefined
    current = start()
    await current
  }
  return () => {
    if (current === undefined) {
      current = start()
      return current
    }
    next ??= follow(current)
    return next
  }
}
