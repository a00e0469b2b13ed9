import type { Kysely, PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { minutes, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import { classifyFailure, isAstray, isReadOnly } from './failure.ts'
import { connectTimeoutOf } from './database-url.ts'
import { createReplyLimit } from './limit-replies.ts'
import { prepareNamed, type Preparation } from './named-statements.ts'
import { usualPatience, type Patience } from './patience.ts'
import { kyselyOver } from './kysely-over.ts'
import { defaultSchema, schemaOf, type Schema } from './schema.ts'
import { pinning } from './session-settings.ts'
import type { Tables } from './tables.ts'
import { readTls } from './tls-parameters.ts'

/** Where the database is: a PostgreSQL server, or the socket of a running embedded one. */
export type DatabaseTarget =
  | {
      readonly kind: 'postgres'
      readonly url: string
      /** The same database without the pooler that `url` goes through. */
      readonly directUrl?: string | undefined
    }
  | { readonly kind: 'embedded'; readonly host: string; readonly port: number }

export interface ConnectOptions {
  readonly target: DatabaseTarget
  /** Where the tables are; `billing` by default. */
  readonly schema?: string | undefined
  readonly log: Log
  /** Connections at most. */
  readonly poolSize: number
  readonly applicationName: string
  /** How long a statement may take; 5 s by default. */
  readonly statementTimeout?: Duration
  /** How long a lock and a connection are waited for; 2 s by default. */
  readonly patience?: Pick<Patience, 'connection' | 'lock'>
  /** How long a connection lives; 10 min by default. */
  readonly lifetime?: Duration
}

/** One open transaction: every statement goes through it, none beside it. */
export interface Transaction {
  readonly db: Kysely<Tables>
  readonly client: pg.PoolClient
  readonly schema: Schema
  /** Cuts the connection: the server rolls back, and anyone who waits for it gets an error. */
  destroy(): void
  /** Its connection is closed when it ends: something of another stays behind in the session. */
  retire(): void
}

export interface Database extends Reconnection {
  readonly kind: DatabaseTarget['kind']
  /** For single statements: each is its own transaction. */
  readonly db: Kysely<Tables>
  /** Sends each statement as it is. */
  readonly pool: pg.Pool
  /** Where the tables are: `db` names it, and `query` does. */
  readonly schema: Schema
  /** For a statement that is written as a text: its own transaction, like one of `db`. */
  query(text: string, values: readonly unknown[]): Promise<pg.QueryResult>
  /** For connections of their own, past a pooler: notifications, migrations, maintenance. */
  readonly connection: pg.ClientConfig
  /** Whether its connections prepare named statements; off until the server is known. */
  readonly preparing: Preparation
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  close(): Promise<void>
}

const idleInTransactionMs = 30_000
/**
 * A client that only reads never learns that its server was replaced, so its connections end after
 * a while.
 */
const defaultLifetime = minutes(10)

const { TIMESTAMPTZ, TIMESTAMP, DATE } = pg.types.builtins
const timeTypes: ReadonlySet<number> = new Set([TIMESTAMPTZ, TIMESTAMP, DATE])

/** The driver takes a time in another style for none at all, which would mean: not yet. */
function timeParser(oid: number) {
  // The app may have set its own.
  const parse = pg.types.getTypeParser(oid, 'text')
  return (text: string): unknown => {
    const time: unknown = parse(text)
    if (time !== null) return time
    throw new QuittanceError(
      'database_setting_unsuitable',
      'a session has a DateStyle that is not ISO',
    )
  }
}

/** bigint as bigint, JSON as its exact text: never through a float, never re-serialised. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format !== 'binary') {
      if (oid === pg.types.builtins.INT8) return BigInt
      if (oid === pg.types.builtins.JSON || oid === pg.types.builtins.JSONB) return String
      if (timeTypes.has(oid)) return timeParser(oid)
    }
    return pg.types.getTypeParser(oid, format)
  },
}

/** Opens a pool. Nothing is sent until the first statement. */
export function connect(options: ConnectOptions): Database {
  const pool = new pg.Pool({
    ...clientConfig(options),
    ...pinning((options.patience ?? usualPatience).connection),
    max: options.poolSize,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: (options.lifetime ?? defaultLifetime) / 1000,
  })
  // An idle client that loses its server reports here; without a handler it would end the process.
  let closing = false
  pool.on('error', (error) => {
    if (!closing) options.log.warn({ err: error }, 'database connection lost')
  })
  // So does a client in use; the code that waits for its answer gets the same error as a rejection.
  const preparing: Preparation = { isOn: false }
  const limitReplies = createReplyLimit(replyLimitOf(options))
  pool.on('connect', (client) => {
    client.on('error', () => {})
    limitReplies(client)
    prepareNamed(client, preparing)
  })
  const reconnection = createReconnection(pool)
  const isOver = (error: unknown) => {
    const readOnly = isReadOnly(error)
    if (readOnly) reconnection.reconnect()
    return readOnly || isAstray(error) || classifyFailure(error) === 'lost'
  }
  const schema = schemaOf(options.schema ?? defaultSchema)
  const db = kyselyOver(droppingPool(pool, isOver), schema)
  return {
    kind: options.target.kind,
    db,
    pool,
    schema,
    query: (text, values) => pool.query(schema.textOf(text), [...values]),
    connection: {
      ...clientConfig({ ...options, target: withoutPooler(options.target) }),
      query_timeout: replyLimitOf(options),
    },
    preparing,
    transaction: (work) => runTransaction({ pool, schema, isOver }, work),
    ...reconnection,
    // Kysely ends its pool, and only if it ever used it.
    close: async () => {
      closing = true
      await db.destroy()
      if (!pool.ended) await pool.end()
    },
  }
}

function withoutPooler(target: DatabaseTarget): DatabaseTarget {
  return target.kind === 'postgres' ? { ...target, url: target.directUrl ?? target.url } : target
}

/** What is asked of the server for each connection; a pooler may swallow it. */
export interface ServerLimits {
  readonly statement_timeout: number
  readonly lock_timeout: number
  readonly idle_in_transaction_session_timeout: number
}

export const serverLimits: ServerLimits = {
  statement_timeout: usualPatience.statement,
  lock_timeout: usualPatience.lock,
  idle_in_transaction_session_timeout: idleInTransactionMs,
}

/** Slightly above the server's own limit, and the only limit if there is no server. */
function replyLimitOf({ statementTimeout = usualPatience.statement }: ConnectOptions): Duration {
  return statementTimeout + 1_000
}

function clientConfig(options: ConnectOptions): pg.ClientConfig {
  const { statementTimeout = usualPatience.statement, patience = usualPatience } = options
  const shared = {
    types,
    connectionTimeoutMillis: patience.connection,
    application_name: options.applicationName,
    keepAlive: true,
  }
  if (options.target.kind === 'embedded') {
    const { host, port } = options.target
    return { ...shared, host, port, user: 'quittance', database: 'quittance' }
  }
  const { url } = options.target
  return {
    ...shared,
    connectionTimeoutMillis: connectTimeoutOf(url) ?? patience.connection,
    ...readTls(url),
    ...serverLimits,
    statement_timeout: statementTimeout,
    lock_timeout: patience.lock,
  }
}

/**
 * What is counted under a lock must be read after the lock was taken, whatever level the database has
 * by default.
 */
const begin = 'begin isolation level read committed'

interface Connections {
  readonly pool: pg.Pool
  readonly schema: Schema
  /** Whether the connection that met it must not be used again. */
  readonly isOver: (error: unknown) => boolean
}

export async function runTransaction<T>(
  { pool, schema, isOver }: Connections,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  let usable = false
  let isRetired = false
  let released = false
  const release = (destroy: boolean) => {
    if (!released) client.release(destroy)
    released = true
  }
  try {
    await client.query(begin)
    const result = await work({
      db: boundTo(client, schema),
      client,
      schema,
      destroy: () => release(true),
      retire: () => {
        isRetired = true
      },
    })
    const { command } = await client.query('commit')
    if (command !== 'COMMIT') throw new Error('the transaction was aborted, nothing is committed')
    usable = true
    return result
  } catch (error) {
    if (!isOver(error) && !released) usable = await rolledBack(client)
    throw error
  } finally {
    release(!usable || isRetired)
  }
}

async function rolledBack(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('rollback')
    return true
  } catch {
    return false
  }
}

/**
 * Kysely returns a client to the pool as sound, whatever its last query met. A client that no
 * longer answers, or leads to a server that cannot write, would be given out again and again. It is
 * dropped instead.
 */
function droppingPool(pool: pg.Pool, isOver: (error: unknown) => boolean): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect()
      let over = false
      const send = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
      const query = async (...args: unknown[]) => {
        try {
          return await send(...args)
        } catch (error) {
          over = isOver(error) || over
          throw error
        }
      }
      return { query, release: () => client.release(over) } as unknown as PostgresPoolClient
    },
  }
}

const bound = new WeakMap<pg.PoolClient, { readonly schema: Schema; readonly db: Kysely<Tables> }>()

/** Kysely over one checked-out client; made once per client, as long as its schema is the same. */
function boundTo(client: pg.PoolClient, schema: Schema): Kysely<Tables> {
  const known = bound.get(client)
  if (known?.schema === schema) return known.db
  const db = kyselyOver(singleClientPool(client), schema)
  bound.set(client, { schema, db })
  return db
}

/** A pool of exactly this client, which Kysely neither acquires nor releases. */
function singleClientPool(client: pg.PoolClient): PostgresPool {
  const lent = { query: client.query.bind(client), release: () => {} } as PostgresPoolClient
  return { connect: () => Promise.resolve(lent), end: () => Promise.resolve(), options: {} }
}

/** Makes new connections after a failover: the open ones lead where the name led before. */
interface Reconnection {
  /** Ends the idle connections of the pool; new ones are opened when needed. */
  reconnect(): void
  /** For connections beside the pool: called each time, until the returned function is called. */
  onReconnect(listener: () => void): () => void
}

function createReconnection(pool: pg.Pool): Reconnection {
  const listeners = new Set<() => void>()
  return {
    reconnect() {
      // To end an idle client, a pool has no other way than to take it.
      for (let idle = pool.idleCount; idle > 0; idle -= 1) {
        pool.connect().then(
          (client) => client.release(true),
          () => {},
        )
      }
      for (const listener of listeners) listener()
    },
    onReconnect(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
