import pg from 'pg'
import type { Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import type { Database } from './connect.ts'
import { usualPatience } from './patience.ts'
import { pinSettings } from './session-settings.ts'

export interface ListenOptions {
  /** The schema makes one of its own of it. */
  readonly channel: string
  /** The name under which the server sees the connection. */
  readonly applicationName: string
  readonly log: Log
  readonly reconnectAfter: Duration
}

/**
 * Calls back at each notification on a channel, and whenever it begins to listen, for some may have
 * been missed. Holds a connection of its own, and opens a new one whenever it is lost. Returns what
 * ends it.
 */
export function listenOn(
  database: Database,
  onNotify: () => void,
  { channel, applicationName, log, reconnectAfter }: ListenOptions,
): () => Promise<void> {
  let pause: NodeJS.Timeout | undefined
  const open = () => {
    const client = new pg.Client({ ...database.connection, application_name: applicationName })
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
    startListening(client, database.schema.channel(channel)).then(onNotify).catch(lose)
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

/** The processes that write notify there; on another server this would listen in vain. */
async function startListening(client: pg.Client, channel: string): Promise<void> {
  await client.connect()
  await pinSettings(client, usualPatience.connection)
  await client.query(`listen ${client.escapeIdentifier(channel)}`)
  const { rowCount } = await client.query(
    `select where current_setting('transaction_read_only') = 'on'`,
  )
  if (rowCount !== 0) throw new Error('the server is read-only')
}
