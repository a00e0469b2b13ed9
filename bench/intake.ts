import { join } from 'node:path'
import pg from 'pg'
import { connect } from '../src/database/connect.ts'
import { findEmbedded } from '../src/database/embedded/find-embedded.ts'
import { silentLog } from '../src/kernel/log.ts'
import { startLoad, type Load, type LoadResult } from './load.ts'
import type { PostgresServer } from './postgres.ts'
import { product, start, type Running } from './processes.ts'
import { signingSecret, webhookPath } from './requests.ts'
import type { Settings } from './settings.ts'
import { measured, type Measured } from './statistics.ts'

export type IntakeSubject = 'bare' | 'transaction' | 'pg-boss' | 'PostgreSQL' | 'embedded'

export interface IntakeRow {
  readonly subject: IntakeSubject
  readonly connections: number
  readonly acceptedPerSecond: Measured
  readonly p50Ms: number
  readonly p99Ms: number
  /** All callbacks answered 200; as many were found stored. */
  readonly accepted: number
  readonly ofBare: number
  readonly ofTransaction: number
  readonly ofPgBoss: number
}

interface Target {
  readonly subject: IntakeSubject
  readonly url: string
  /** How many calls it stored since the last look; forgets them. */
  readonly takeStored: (() => Promise<number>) | undefined
  stop(): Promise<void>
}

interface Listening {
  readonly url: string
}

export interface IntakeOptions {
  readonly server: PostgresServer
  readonly settings: Settings
  /** For the embedded database. */
  readonly folder: string
  progress(text: string): void
}

/** Every subject is loaded in turn, and that several times: noise hits all of them alike. */
export async function benchIntake(options: IntakeOptions): Promise<readonly IntakeRow[]> {
  const { settings } = options
  const load = await startLoad(settings.requests)
  const targets = [
    await startBare(),
    await startTransactions(options, byHand),
    await startTransactions(options, withPgBoss),
    await startOnPostgres(options),
    await startEmbedded(options),
  ]
  try {
    const [connections = 1] = settings.connections
    for (const target of targets)
      await run(target, { load, connections, ms: settings.firstWarmUpMs })
    const rows: IntakeRow[] = []
    for (const connections of settings.connections) {
      rows.push(...(await benchWith(connections, { targets, load, options })))
    }
    return rows
  } finally {
    load.stop()
    for (const target of targets) await target.stop()
  }
}

interface Subjects {
  readonly targets: readonly Target[]
  readonly load: Load
  readonly options: IntakeOptions
}

async function benchWith(
  connections: number,
  { targets, load, options: { settings, progress } }: Subjects,
): Promise<readonly IntakeRow[]> {
  const rounds = new Map<IntakeSubject, LoadResult[]>()
  for (let round = 1; round <= settings.rounds; round += 1) {
    for (const target of targets) {
      const { subject } = target
      progress(`intake, ${connections} senders, round ${round} of ${settings.rounds}: ${subject}`)
      await run(target, { load, connections, ms: settings.warmUpMs })
      const result = await run(target, { load, connections, ms: settings.roundMs })
      rounds.set(subject, [...(rounds.get(subject) ?? []), result])
    }
  }
  return toRows(connections, rounds)
}

interface Round {
  readonly load: Load
  readonly connections: number
  readonly ms: number
}

async function run(target: Target, { load, connections, ms }: Round): Promise<LoadResult> {
  const { subject, url, takeStored } = target
  const result = await load.run({ url, connections, milliseconds: ms })
  const { accepted, refused } = result
  if (refused > 0) throw new Error(`${subject}: ${refused} callbacks were not answered 200`)
  const stored = await takeStored?.()
  if (stored !== undefined && stored !== accepted) {
    throw new Error(`${subject}: accepted ${accepted} callbacks, stored ${stored}`)
  }
  return result
}

async function startBare(): Promise<Target> {
  const running = await start<Listening>(['bare-server.ts'])
  return { ...targetOf('bare', running), takeStored: undefined }
}

interface Baseline {
  readonly subject: IntakeSubject
  readonly script: string
  /** Where it stores calls, and their jobs. */
  readonly tables: readonly [string, string]
}

const byHand: Baseline = {
  subject: 'transaction',
  script: 'transaction-server.ts',
  tables: ['calls', 'jobs'],
}
const withPgBoss: Baseline = {
  subject: 'pg-boss',
  script: 'pg-boss-server.ts',
  tables: ['calls', 'pgboss.job'],
}

async function startTransactions(
  { server }: IntakeOptions,
  { subject, script, tables }: Baseline,
): Promise<Target> {
  const databaseUrl = await server.create()
  const running = await start<Listening>([script], { env: { DATABASE_URL: databaseUrl } })
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  return {
    ...targetOf(subject, running),
    takeStored: () => takeRows(database, tables),
    stop: async () => {
      await database.end()
      await running.stop()
    },
  }
}

async function startOnPostgres({ server, folder }: IntakeOptions): Promise<Target> {
  const databaseUrl = await server.create()
  const running = await startProduct({ DATABASE_URL: databaseUrl }, folder)
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  return {
    ...targetOf('PostgreSQL', running),
    takeStored: () => takeRows(database, ['billing.webhook_calls']),
    stop: async () => {
      await database.end()
      await running.stop()
    },
  }
}

async function startEmbedded({ folder }: IntakeOptions): Promise<Target> {
  const dataDir = join(folder, 'intake')
  const running = await startProduct({ BILLING_DATA_DIR: dataDir }, folder)
  const database = connect({
    target: { kind: 'embedded', ...(await findEmbedded(dataDir)) },
    log: silentLog,
    poolSize: 1,
    applicationName: 'bench',
  })
  return {
    ...targetOf('embedded', running),
    takeStored: () => takeRows(database.pool, ['billing.webhook_calls']),
    stop: async () => {
      await database.close()
      await running.stop()
    },
  }
}

/** Without a worker: what is measured is the intake alone. */
function startProduct(
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Running<Listening>> {
  return start<Listening>([product, 'serve', '--no-worker', '--json'], {
    cwd,
    env: { HOST: '127.0.0.1', PORT: '0', STRIPE_SIGNING_SECRET: signingSecret, ...env },
  })
}

function targetOf(subject: IntakeSubject, { ready, stop }: Running<Listening>) {
  return { subject, url: new URL(webhookPath, ready.url).href, stop }
}

/** Counts the rows and empties the tables, so that every round meets the same. */
async function takeRows(
  database: Pick<pg.Client | pg.Pool, 'query'>,
  tables: readonly [string, ...string[]],
): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `select count(*)::integer as count from ${tables[0]}`,
  )
  await database.query(`truncate ${tables.join(', ')}`)
  return rows[0]?.count ?? 0
}

function toRows(
  connections: number,
  rounds: ReadonlyMap<IntakeSubject, readonly LoadResult[]>,
): readonly IntakeRow[] {
  const rate = (subject: IntakeSubject) =>
    measured((rounds.get(subject) ?? []).map(({ perSecond }) => perSecond))
  const median = (subject: IntakeSubject) => rate(subject).median
  return Array.from(rounds, ([subject, results]) => ({
    subject,
    connections,
    acceptedPerSecond: rate(subject),
    p50Ms: measured(results.map(({ p50Ms }) => p50Ms)).median,
    p99Ms: measured(results.map(({ p99Ms }) => p99Ms)).median,
    accepted: results.reduce((sum, { accepted }) => sum + accepted, 0),
    ofBare: median(subject) / median('bare'),
    ofTransaction: median(subject) / median('transaction'),
    ofPgBoss: median(subject) / median('pg-boss'),
  }))
}
