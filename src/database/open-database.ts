import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import {
  connect,
  serverLimits,
  type ConnectOptions,
  type Database,
  type DatabaseTarget,
  type ServerLimits,
} from './connect.ts'
import { findEmbedded } from './embedded/find-embedded.ts'
import { openEmbedded, tooBusy, type Embedded } from './embedded/open-embedded.ts'
import { classifyFailure, sqlStateOf } from './failure.ts'
import { migrate } from './migrate.ts'
import { usualPatience, type Patience } from './patience.ts'
import { tlsFaultOf } from './tls-faults.ts'

export interface OpenOptions {
  readonly url?: string | undefined
  readonly directUrl?: string | undefined
  readonly dataDir: string
  readonly memory: boolean
  readonly schema?: string | undefined
  readonly attach: boolean
  readonly poolSize: number
  readonly log: Log
  /** Origin of the URLs that this process hands out; an embedded database tells the commands. */
  readonly origin?: string | undefined
  /** What an embedded database lives by, for rehearsals; the system's clock if left out. */
  readonly clock?: SharedArrayBuffer | undefined
  readonly patience?: Patience | undefined
  /** Called when the embedded database ends on its own. */
  readonly onLost: (error: QuittanceError) => void
}

export interface OpenDatabase {
  readonly database: Database
  /** Separate connections for storing calls: other work never takes them away. */
  readonly intake: Database
  /** For what people look at, however many look: few connections, and statements that end soon. */
  readonly looks: Database
  close(): Promise<void>
}

const intakePoolSize = 2
const looksPoolSize = 2

/**
 * Opens the database that the options name and checks that it is suitable; migrates an embedded
 * one.
 */
export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const { target, embedded } = await locate(options)
  const { log, schema, patience = usualPatience } = options
  const shared = { target, schema, log, patience }
  const database = connect({
    ...shared,
    ...poolOf(options, target),
    applicationName: 'quittance',
    statementTimeout: patience.statement,
  })
  const intake = connect({
    ...shared,
    poolSize: target.kind === 'embedded' ? 1 : intakePoolSize,
    applicationName: 'quittance intake',
    statementTimeout: patience.storing,
  })
  const looks = connect({
    ...shared,
    poolSize: looksPoolSize,
    applicationName: 'quittance console',
    statementTimeout: patience.look,
  })
  const pools = [database, intake, looks]
  const close = async () => {
    await Promise.all(pools.map((pool) => pool.close()))
    await embedded?.close()
  }
  try {
    const isDirect = await checkServer(database, options)
    // Our own embedded database keeps statements, but might keep those of another version for others.
    for (const { preparing } of pools) preparing.isOn = isDirect || embedded !== undefined
    // Nobody else migrates an embedded database; a server's schema is for its owner to change.
    if (embedded !== undefined) await migrate(database, { log: options.log })
    return { database, intake, looks, close }
  } catch (error) {
    await close()
    throw explain(error, embedded !== undefined)
  }
}

function poolOf(options: OpenOptions, target: DatabaseTarget): Pick<ConnectOptions, 'poolSize'> {
  return { poolSize: target.kind === 'embedded' ? 4 : options.poolSize }
}

async function locate(
  options: OpenOptions,
): Promise<{ readonly target: DatabaseTarget; readonly embedded?: Embedded }> {
  const { url, directUrl } = options
  if (url !== undefined) return { target: { kind: 'postgres', url, directUrl } }
  const dataDir = options.memory ? undefined : options.dataDir
  if (options.attach && dataDir !== undefined) {
    const running = await findRunning(dataDir)
    if (running !== undefined) return { target: { kind: 'embedded', ...running } }
  }
  const embedded = await openEmbedded({
    dataDir,
    log: options.log,
    origin: options.origin,
    onLost: options.onLost,
    transactionIdleMs: (options.patience ?? usualPatience).forgotten,
    clock: options.clock,
  })
  return { target: { kind: 'embedded', ...embedded.socket }, embedded }
}

async function findRunning(dataDir: string) {
  try {
    return await findEmbedded(dataDir)
  } catch (error) {
    if (isQuittanceError(error) && error.code === 'embedded_not_running') return undefined
    throw error
  }
}

const oldestVersion = 150_000

type ServerSettings = Record<
  'process' | 'version' | 'durable' | 'encoding' | keyof ServerLimits,
  string
>

/**
 * What a server must be to keep money: recent enough, and durable once it reports a commit. Returns
 * whether it is reached without a pooler, so that a connection stays with one process of the server.
 */
async function checkServer(
  database: Database,
  { directUrl, log }: Pick<OpenOptions, 'directUrl' | 'log'>,
): Promise<boolean> {
  if (database.kind === 'embedded') return false
  const { server, isSameProcess } = await describeServer(database)
  if (Number(server.version) < oldestVersion) {
    throw new QuittanceError(
      'database_version_unsupported',
      `the server is PostgreSQL ${Math.trunc(Number(server.version) / 10_000)}`,
    )
  }
  if (server.encoding !== 'UTF8') {
    throw new QuittanceError(
      'database_encoding_unsupported',
      `the database has the encoding ${server.encoding}`,
    )
  }
  if (server.durable === 'off') {
    throw new QuittanceError(
      'database_not_durable',
      'the server runs with synchronous_commit = off',
    )
  }
  const missing = missingLimits(server)
  if (missing.length > 0) log.warn({ missing, fix: fixForLimits }, 'a pooler swallows our limits')
  return isSameProcess && missing.length === 0 && directUrl === undefined
}

/**
 * Each process of a server announces its number when a connection is opened. A pooler announces one
 * of its own.
 */
async function describeServer({ pool }: Database) {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<ServerSettings>(
      `select pg_backend_pid()::text as process,
       current_setting('server_version_num') as version,
       -- As it is for the role: our own sessions have another one.
       (select reset_val from pg_settings where name = 'synchronous_commit') as durable,
       current_setting('server_encoding') as encoding,
       ${Object.keys(serverLimits)
         .map((name) => `(select setting from pg_settings where name = '${name}') as ${name}`)
         .join(', ')}`,
    )
    const [server] = rows
    if (server === undefined) throw new Error('the server did not describe itself')
    return { server, isSameProcess: server.process === String(Reflect.get(client, 'processID')) }
  } finally {
    client.release()
  }
}

const fixForLimits =
  "Set them for the role: alter role NAME set statement_timeout = '5s'; likewise " +
  "lock_timeout = '2s', idle_in_transaction_session_timeout = '30s'"

/** Names of the limits that are not in force, though each connection asks for them. */
function missingLimits(server: ServerSettings): readonly string[] {
  return Object.keys(serverLimits).filter(
    (name) => Number(server[name as keyof ServerLimits]) === 0,
  )
}

/**
 * A driver's error in the words of a setting; the URL is not repeated, because it contains a
 * password.
 */
function explain(error: unknown, isOwn: boolean): unknown {
  if (isQuittanceError(error)) return error
  const tls = tlsFaultOf(error)
  if (tls !== undefined) {
    const { found, fix } = tls
    return new QuittanceError('database_tls_failed', `no connection to the database: ${found}`, {
      cause: error,
      fix,
    })
  }
  const reason = error instanceof Error ? reasonOf(error) : String(error)
  const state = sqlStateOf(error)
  if (state !== undefined && (state.startsWith('28') || state === '3D000' || state === '42501')) {
    return new QuittanceError('database_rejected', `the database refused us: ${reason}`, {
      cause: error,
    })
  }
  if (/unsupported startup parameter/.test(reason)) {
    return new QuittanceError('database_rejected', `a pooler refuses our limits: ${reason}`, {
      cause: error,
      fix:
        'In pgbouncer.ini: ignore_startup_parameters = statement_timeout, lock_timeout, ' +
        'idle_in_transaction_session_timeout; and set them for the role: docs/5-operations.md#poolers.',
    })
  }
  if (classifyFailure(error) === 'lost' || classifyFailure(error) === 'unavailable') {
    return new QuittanceError('database_unreachable', `no database answers: ${reason}`, {
      cause: error,
      // No server has to run, and no setting names it: the embedded one has just been opened.
      ...(isOwn && { fix: tooBusy }),
    })
  }
  return error
}

function reasonOf(error: Error): string {
  // An attempt at several addresses fails with one error each, and without its own message.
  if (error instanceof AggregateError) {
    return error.errors.map((one) => (one instanceof Error ? one.message : String(one))).join(', ')
  }
  return error.message
}
