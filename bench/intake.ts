import { join } from 'node:path'
import pg from 'pg'
import { connect } from '../src/database/connect.ts'
import { findEmbedded } from '../src/database/embedded/find-embedded.ts'
import { silentLog } from '../src/kernel/log.ts'
import { startLoad, type LoadResult } from './load.ts'
import type { PostgresServer } from './postgres.ts'
import { product, start, type Running } from './processes.ts'
import { signingSecret, webhookPath } from './requests.ts'
import type { Settings } from './settings.ts'
import { measured, type Measured } from './statistics.ts'

export type IntakeSubject = 'bare' | 'transaction' | 'PostgreSQL' | 'embedded'

export interface IntakeRow {
  readonly subject: IntakeSubject
  readonly acceptedPerSecond: Measured
  readonly p50Ms: number
  readonly p99Ms: number
  /** All callbacks answered 200, warm-up included; as many were found stored. */
  readonly accepted: number
  readonly ofBare: number
  readonly ofTransaction: number
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
  const { settings, progress } = options
  const load = await startLoad(settings.requests)
  const targets = [
    await startBare(),
    await startTransactions(options),
    await startOnPostgres(options),
    await startEmbedded(options),
  ]
  const rounds = new Map<IntakeSubject, LoadResult[]>()
  try {
    for (let round = 1; round <= settings.rounds; round += 1) {
      for (const target of targets) {
        progress(`intake, round ${round} of ${settings.rounds}: ${target.subject}`)
        const result = await runRound(target, { load, settings })
        rounds.set(target.subject, [...(rounds.get(target.subject) ?? []), result])
      }
    }
  } finally {
    load.stop()
    for (const target of targets) await target.stop()
  }
  return toRows(rounds)
}

async function runRound(
  { subject, url, takeStored }: Target,
  { load, settings }: { readonly load: Awaited<ReturnType<typeof startLoad>>; settings: Settings },
): Promise<LoadResult> {
  const { connections, warmUpMs, roundMs } = settings
  const order = { url, connections }
  const warmUp = await load.run({ ...order, milliseconds: warmUpMs })
  const result = await load.run({ ...order, milliseconds: roundMs })
  const refused = warmUp.refused + result.refused
  if (refused > 0) throw new Error(`${subject}: ${refused} callbacks were not answered 200`)
  const accepted = warmUp.accepted + result.accepted
  const stored = await takeStored?.()
  if (stored !== undefined && stored !== accepted) {
    throw new Error(`${subject}: accepted ${accepted} callbacks, stored ${stored}`)
  }
  return { ...result, accepted }
}

async function startBare(): Promise<Target> {
  const running = await start<Listening>(['bare-server.ts'])
  return { ...targetOf('bare', running), takeStored: undefined }
}

async function startTransactions({ server }: IntakeOptions): Promise<Target> {
  const databaseUrl = await server.create()
  const running = await start<Listening>(['transaction-server.ts'], {
    env: { DATABASE_URL: databaseUrl },
  })
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  return {
    ...targetOf('transaction', running),
    takeStored: () => takeRows(database, ['calls', 'jobs']),
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

function toRows(rounds: ReadonlyMap<IntakeSubject, readonly LoadResult[]>): readonly IntakeRow[] {
  const rate = (subject: IntakeSubject) =>
    measured((rounds.get(subject) ?? []).map(({ perSecond }) => perSecond))
  const median = (subject: IntakeSubject) => rate(subject).median
  return Array.from(rounds, ([subject, results]) => ({
    subject,
    acceptedPerSecond: rate(subject),
    p50Ms: measured(results.map(({ p50Ms }) => p50Ms)).median,
    p99Ms: measured(results.map(({ p99Ms }) => p99Ms)).median,
    accepted: results.reduce((sum, { accepted }) => sum + accepted, 0),
    ofBare: median(subject) / median('bare'),
    ofTransaction: median(subject) / median('transaction'),
  }))
}
