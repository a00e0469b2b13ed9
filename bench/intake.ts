import { join } from 'node:path'
import pg from 'pg'
import { newPayments } from './backlog.ts'
import { findEmbedded } from '../src/database/embedded/find-embedded.ts'
import { startLoad, type Load, type LoadResult } from './load.ts'
import { product, start, type Running } from './processes.ts'
import { signingSecret, webhookPath } from './requests.ts'
import { repeatRounds, type Figure, type Rounds } from './rounds.ts'
import { open, type BenchOptions } from './service.ts'

export interface Target {
  readonly subject: string
  readonly url: string
  /** How many calls it stored since the last look; forgets them. */
  readonly takeStored: (() => Promise<number>) | undefined
  /** What goes on while it is loaded, until it is stopped. */
  readonly beside?: () => { stop(): Promise<void> }
  stop(): Promise<void>
}

interface Listening {
  readonly url: string
}

interface Subjects extends Compared {
  readonly targets: readonly Target[]
  readonly load: Load
  readonly options: BenchOptions
}

/** What is measured side by side. */
interface Compared {
  readonly starts: readonly ((options: BenchOptions) => Promise<Target>)[]
  /** Names of subjects. */
  readonly baselines: readonly [string, ...string[]]
  readonly rounds: number
  /** One program and another way of it: to leave out slow rounds of one alone would favour it. */
  readonly areAlike?: true
}

/** How fast callbacks are stored and answered, by number of senders. */
export function benchIntake(
  options: BenchOptions,
): Promise<ReadonlyMap<number, readonly Figure[]>> {
  const baselines = ['B', byHand.subject, withPgBoss.subject] as const
  return benchTargets(options, { starts, baselines, rounds: options.settings.rounds })
}

export async function benchTargets(
  options: BenchOptions,
  compared: Compared,
): Promise<ReadonlyMap<number, readonly Figure[]>> {
  const { settings } = options
  const load = startLoad()
  const targets: Target[] = []
  const subjects = { ...compared, targets, load, options }
  try {
    for (const begin of compared.starts) targets.push(await begin(options))
    await load.sign(newPayments(settings.requests))
    const [connections = 1] = settings.connections
    const milliseconds = settings.firstWarmUpMs
    for (const target of targets) await run(target, { load, connections, milliseconds })
    const figures = new Map<number, readonly Figure[]>()
    for (const senders of settings.connections) {
      figures.set(senders, await benchWith(senders, subjects))
    }
    return figures
  } finally {
    load.stop()
    for (const target of targets) await target.stop()
  }
}

/**
 * Every subject is loaded in turn, and that several times: noise hits all of them alike. Each second
 * round goes backwards: what the server still writes for one would slow down the same next one.
 */
async function benchWith(connections: number, subjects: Subjects): Promise<readonly Figure[]> {
  const { baselines, options, areAlike } = subjects
  let targets = subjects.targets
  const { progress } = options
  const rounds = await repeatRounds(
    {
      count: subjects.rounds,
      baseline: areAlike ? undefined : baselines[0],
      progress: (round) => progress(`intake, ${connections} senders, ${round}`),
    },
    async (each) => {
      await runRound(connections, { ...subjects, targets }, each)
      targets = targets.toReversed()
    },
  )
  return rounds.figures(baselines, areAlike ? 'every' : 'calm')
}

async function runRound(
  connections: number,
  { targets, load, options: { settings } }: Subjects,
  rounds: Rounds,
): Promise<void> {
  await load.sign(newPayments(settings.requests))
  for (const target of targets) {
    await run(target, { load, connections, milliseconds: settings.warmUpMs })
    const result = await run(target, { load, connections, milliseconds: settings.roundMs })
    const { perSecond, p50Ms, p99Ms } = result
    rounds.add(target.subject, { perSecond, p50Ms, p99Ms })
  }
}

interface Round {
  readonly load: Load
  readonly connections: number
  readonly milliseconds: number
}

async function run(target: Target, { load, ...order }: Round): Promise<LoadResult> {
  const { subject, url, takeStored } = target
  const beside = target.beside?.()
  const result = await load.send({ url, ...order })
  await beside?.stop()
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
  return { ...targetOf('B', running), takeStored: undefined }
}

interface Baseline {
  readonly subject: string
  readonly script: string
  /** Where it stores calls, and their jobs. */
  readonly tables: readonly [string, string]
}

const byHand: Baseline = {
  subject: 'a transaction each',
  script: 'transaction-server.ts',
  tables: ['calls', 'jobs'],
}
const withPgBoss: Baseline = {
  subject: 'and a pg-boss job',
  script: 'pg-boss-server.ts',
  tables: ['calls', 'pgboss.job'],
}

async function startTransactions(
  { server }: BenchOptions,
  { subject, script, tables }: Baseline,
): Promise<Target> {
  const databaseUrl = await server.create()
  const running = await start<Listening>([script], { env: { DATABASE_URL: databaseUrl } })
  return storingIn(await connectTo(databaseUrl), tables, targetOf(subject, running))
}

interface Program {
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The program; that of this checkout if left out. */
  readonly main?: string
}

export async function startOnPostgres(
  { server, folder }: BenchOptions,
  { subject, env, ...program }: Program & { readonly subject: string },
): Promise<Target> {
  const databaseUrl = await server.create()
  const variables = { ...env, DATABASE_URL: databaseUrl }
  const running = await startProduct(variables, { cwd: folder, ...program })
  const target = targetOf(subject, running)
  return storingIn(await connectTo(databaseUrl), ['billing.webhook_calls'], target)
}

const starts: Compared['starts'] = [
  startBare,
  (options) => startTransactions(options, byHand),
  (options) => startTransactions(options, withPgBoss),
  (options) => startOnPostgres(options, { subject: 'serve, PostgreSQL', args: [] }),
  (options) =>
    startOnPostgres(options, { subject: 'serve --processes 2', args: ['--processes', '2'] }),
  startEmbedded,
]

async function connectTo(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return client
}

async function startEmbedded({ folder }: BenchOptions): Promise<Target> {
  const dataDir = join(folder, 'intake')
  const running = await startProduct({ BILLING_DATA_DIR: dataDir }, { cwd: folder, args: [] })
  const { pool, close } = open({ kind: 'embedded', ...(await findEmbedded(dataDir)) })
  const target = targetOf('serve, embedded', running)
  const query = (text: string) => pool.query<{ count: number }>(text)
  return storingIn({ query, end: close }, ['billing.webhook_calls'], target)
}

/** Without a worker: what is measured is the intake alone. */
function startProduct(
  env: Readonly<Record<string, string>>,
  { cwd, args, main = product }: Omit<Program, 'env'> & { readonly cwd: string },
): Promise<Running<Listening>> {
  return start<Listening>([main, 'serve', '--no-worker', '--json', ...args], {
    cwd,
    env: { HOST: '127.0.0.1', PORT: '0', STRIPE_SIGNING_SECRET: signingSecret, ...env },
  })
}

function targetOf(subject: string, { ready, stop }: Running<Listening>) {
  return { subject, url: new URL(webhookPath, ready.url).href, stop }
}

interface Connection {
  query(text: string): Promise<{ rows: { count: number }[] }>
  end(): Promise<void>
}

/**
 * Counts the rows and empties the tables, so that every round meets the same. What is still to be
 * written to disk is written now, if the user may: it would slow down whoever comes next.
 */
function storingIn(
  connection: Connection,
  tables: readonly [string, ...string[]],
  target: Omit<Target, 'takeStored'>,
): Target {
  return {
    ...target,
    takeStored: async () => {
      const { rows } = await connection.query(`select count(*)::integer as count from ${tables[0]}`)
      await connection.query(`truncate ${tables.join(', ')}`)
      await connection.query('checkpoint').catch(() => {})
      return rows[0]?.count ?? 0
    },
    stop: async () => {
      await connection.end()
      await target.stop()
    },
  }
}
