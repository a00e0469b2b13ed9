import { seconds } from '../kernel/duration.ts'
import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import { connect, type ConnectOptions, type Database, type DatabaseTarget } from './connect.ts'
import { findEmbedded } from './embedded/find-embedded.ts'
import { openEmbedded, type Embedded } from './embedded/open-embedded.ts'
import { classifyFailure, sqlStateOf } from './failure.ts'
import { migrate } from './migrate.ts'

export interface OpenOptions {
  readonly url?: string | undefined
  readonly dataDir: string
  readonly memory: boolean
  readonly attach: boolean
  readonly poolSize: number
  readonly log: Log
  /** Called when the embedded database ends on its own. */
  readonly onLost: (error: QuittanceError) => void
}

export interface OpenDatabase {
  readonly database: Database
  /** Separate connections for storing calls: other work never takes them away. */
  readonly intake: Database
  close(): Promise<void>
}

/** Forgotten transactions end by then; listeners get less time. */
const embeddedTransactionIdleMs = 5_000
const intakeStatementTimeout = seconds(2)
const intakePoolSize = 2

/**
 * Opens the database that the options name and checks that it is suitable; migrates an embedded
 * one.
 */
export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const { target, embedded } = await locate(options)
  const shared = { target, log: options.log }
  const database = connect({ ...shared, ...poolOf(options, target), applicationName: 'quittance' })
  const intake = connect({
    ...shared,
    poolSize: target.kind === 'embedded' ? 1 : intakePoolSize,
    applicationName: 'quittance intake',
    statementTimeout: intakeStatementTimeout,
  })
  const close = async () => {
    await Promise.all([intake.close(), database.close()])
    await embedded?.close()
  }
  try {
    await checkServer(database)
    // Nobody else migrates an embedded database; a server's schema is for its owner to change.
    if (embedded !== undefined) await migrate(database)
    return { database, intake, close }
  } catch (error) {
    await close()
    throw explain(error)
  }
}

function poolOf(options: OpenOptions, target: DatabaseTarget): Pick<ConnectOptions, 'poolSize'> {
  return { poolSize: target.kind === 'embedded' ? 4 : options.poolSize }
}

async function locate(
  options: OpenOptions,
): Promise<{ readonly target: DatabaseTarget; readonly embedded?: Embedded }> {
  if (options.url !== undefined) return { target: { kind: 'postgres', url: options.url } }
  const dataDir = options.memory ? undefined : options.dataDir
  if (options.attach && dataDir !== undefined) {
    const running = await findRunning(dataDir)
    if (running !== undefined) return { target: { kind: 'embedded', ...running } }
  }
  const embedded = await openEmbedded({
    dataDir,
    log: options.log,
    onLost: options.onLost,
    transactionIdleMs: embeddedTransactionIdleMs,
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

/** What a server must be to keep money: recent enough, and durable once it reports a commit. */
async function checkServer(database: Database): Promise<void> {
  if (database.kind === 'embedded') return
  const { rows } = await database.pool.query<Record<'version' | 'durable' | 'encoding', string>>(
    `select current_setting('server_version_num') as version,
       current_setting('synchronous_commit') as durable,
       current_setting('server_encoding') as encoding`,
  )
  const [server] = rows
  if (server === undefined) throw new Error('the server did not describe itself')
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
}

/**
 * A driver's error in the words of a setting; the URL is not repeated, because it contains a
 * password.
 */
function explain(error: unknown): unknown {
  if (isQuittanceError(error)) return error
  const reason = error instanceof Error ? reasonOf(error) : String(error)
  const state = sqlStateOf(error)
  if (state !== undefined && (state.startsWith('28') || state === '3D000' || state === '42501')) {
    return new QuittanceError('database_rejected', `the database refused us: ${reason}`, {
      cause: error,
    })
  }
  if (classifyFailure(error) === 'lost' || classifyFailure(error) === 'unavailable') {
    return new QuittanceError('database_unreachable', `no database answers: ${reason}`, {
      cause: error,
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
