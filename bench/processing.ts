import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type Database, type DatabaseTarget } from '../src/database/connect.ts'
import { findEmbedded } from '../src/database/embedded/find-embedded.ts'
import { silentLog } from '../src/kernel/log.ts'
import { fillBacklog } from './backlog.ts'
import type { PostgresServer } from './postgres.ts'
import { product, start, type Running } from './processes.ts'
import { signingSecret } from './requests.ts'
import type { Settings } from './settings.ts'
import { measured, type Measured } from './statistics.ts'

export type ProcessingSubject = 'plain' | 'PostgreSQL' | 'embedded'
export type ListenerKind = 'none' | 'in transaction' | 'queued'

export interface ProcessingRow {
  readonly subject: ProcessingSubject
  readonly listener: ListenerKind
  /** Calls in the backlog; as many events, paid payments and listener runs were found after it. */
  readonly calls: number
  readonly perSecond: Measured
  readonly ofPlain: number
}

export interface ProcessingOptions {
  readonly server: PostgresServer
  readonly settings: Settings
  readonly folder: string
  progress(text: string): void
}

interface Case {
  readonly subject: ProcessingSubject
  readonly listener: ListenerKind
}

const cases: readonly Case[] = [
  { subject: 'plain', listener: 'none' },
  { subject: 'PostgreSQL', listener: 'none' },
  { subject: 'PostgreSQL', listener: 'in transaction' },
  { subject: 'PostgreSQL', listener: 'queued' },
  { subject: 'embedded', listener: 'none' },
  { subject: 'embedded', listener: 'in transaction' },
  { subject: 'embedded', listener: 'queued' },
]

const listeners: Readonly<Record<ListenerKind, string>> = {
  none: '',
  'in transaction': `
    async function teller(event, { tx }) {
      await tx.query('insert into told (payment_id) values ($1)', [event.payment.id])
    }
    export default { listeners: { teller: { on: 'PaymentSucceeded', run: teller } } }`,
  queued: `
    async function mailer() {}
    export default { listeners: { mailer: { on: 'PaymentSucceeded', run: mailer, queued: true } } }`,
}

/** The backlogs that are copied for each run, so that every run meets the same one. */
interface Backlogs {
  readonly url: string
  readonly dataDir: string
}

export async function benchProcessing(
  options: ProcessingOptions,
): Promise<readonly ProcessingRow[]> {
  const backlogs = await makeBacklogs(options)
  const rates = new Map<Case, number[]>(cases.map((one) => [one, []]))
  const { backlogRounds } = options.settings
  for (let round = 1; round <= backlogRounds; round += 1) {
    for (const one of cases) {
      const { subject, listener } = one
      options.progress(
        `processing, round ${round} of ${backlogRounds}: ${subject}, listener: ${listener}`,
      )
      rates.get(one)?.push(await runCase(one, { backlogs, round, options }))
    }
  }
  return toRows(rates, options.settings)
}

async function makeBacklogs({ server, settings, folder, progress }: ProcessingOptions) {
  const { postgres, embedded } = settings.backlog
  progress(`${postgres} payments and calls for PostgreSQL`)
  const url = await server.create()
  await fillBacklog({ url }, postgres)
  progress(`${embedded} payments and calls for the embedded database`)
  const dataDir = join(folder, 'backlog')
  await fillBacklog({ dataDir }, embedded)
  return { url, dataDir }
}

interface Run {
  readonly backlogs: Backlogs
  readonly round: number
  readonly options: ProcessingOptions
}

/** Calls a second, from the first processed call to the last finished piece of work. */
async function runCase(one: Case, run: Run): Promise<number> {
  const calls = callsOf(one, run.options.settings)
  const { running, database } = await startCase(one, run)
  try {
    await Promise.race([untilFinished(database), running.failed])
    await verify(database, { ...one, calls })
    return await rateOf(database)
  } finally {
    await database.close()
    await running.stop()
  }
}

interface Started {
  readonly running: Running<unknown>
  readonly database: Database
}

async function startCase(one: Case, { backlogs, round, options }: Run): Promise<Started> {
  const cwd = join(options.folder, `${one.subject}, ${one.listener}, ${round}`)
  mkdirSync(cwd)
  if (listeners[one.listener] !== '') {
    writeFileSync(join(cwd, 'quittance.config.js'), listeners[one.listener])
  }
  const shared = { HOST: '127.0.0.1', PORT: '0', STRIPE_SIGNING_SECRET: signingSecret }
  if (one.subject === 'embedded') {
    const dataDir = join(cwd, 'data')
    cpSync(backlogs.dataDir, dataDir, { recursive: true })
    const env = { ...shared, BILLING_DATA_DIR: dataDir }
    const running = await start([product, 'serve', '--json'], { cwd, env })
    const database = open({ kind: 'embedded', ...(await findEmbedded(dataDir)) })
    return { running, database }
  }
  const url = await options.server.create(backlogs.url)
  const env = { ...shared, DATABASE_URL: url }
  const running =
    one.subject === 'plain'
      ? await start(['plain-worker.ts'], { env })
      : await start([product, 'work', '--json'], { cwd, env })
  return { running, database: open({ kind: 'postgres', url }) }
}

function open(target: DatabaseTarget): Database {
  return connect({ target, log: silentLog, poolSize: 1, applicationName: 'bench' })
}

const pollMs = 250

const finishedWithinMs = 120_000

/** Asks rarely, and only whether anything is left: the database's own times are the measure. */
async function untilFinished({ pool }: Database): Promise<void> {
  const unfinished = `state in ('pending', 'processing')`
  const deadline = performance.now() + finishedWithinMs
  while (performance.now() < deadline) {
    const { rows } = await pool.query<{ open: boolean }>(
      `select exists (select from billing.webhook_calls where ${unfinished})
         or exists (select from billing.deliveries where ${unfinished}) as open`,
    )
    if (rows[0]?.open === false) return
    await pause(pollMs)
  }
  throw new Error(`the backlog was not finished within ${finishedWithinMs / 1000} s`)
}

/** A figure counts only if every call did its work, once. */
async function verify(
  { pool }: Database,
  { subject, listener, calls }: Case & { readonly calls: number },
): Promise<void> {
  const { rows } = await pool.query<Record<string, number>>(`
    select (select count(*) from billing.webhook_calls where state = 'processed')::integer as calls,
      (select count(*) from billing.payments where status = 'paid')::integer as paid,
      (select count(*) from billing.events where type = 'PaymentSucceeded')::integer as events,
      (select count(distinct payment_id) from billing.events)::integer as payments,
      (select count(*) from billing.deliveries where state = 'processed')::integer as deliveries`)
  const told = listener === 'in transaction' ? await countTold(pool) : 0
  const found = { ...rows[0], told }
  const wanted = {
    calls,
    paid: calls,
    events: calls,
    payments: calls,
    deliveries: listener === 'queued' ? calls : 0,
    told: listener === 'in transaction' ? calls : 0,
  }
  if (JSON.stringify(found) === JSON.stringify(wanted)) return
  const counts = `${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`
  throw new Error(`${subject}, listener ${listener}: ${counts}`)
}

async function countTold(pool: Database['pool']): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'select count(distinct payment_id)::integer as count from told having count(*) = count(distinct payment_id)',
  )
  return rows[0]?.count ?? -1
}

/** What was finished at the first moment is left out: its work lies before the measured time. */
async function rateOf({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ rate: number }>(`
    select (count(*) filter (where processed_at > first)
      / extract(epoch from greatest(max(processed_at),
          (select max(processed_at) from billing.deliveries)) - min(first)))::float8 as rate
    from billing.webhook_calls,
      (select min(processed_at) as first from billing.webhook_calls) as beginning`)
  return rows[0]?.rate ?? Number.NaN
}

function callsOf({ subject }: Case, { backlog }: Settings): number {
  return subject === 'embedded' ? backlog.embedded : backlog.postgres
}

function toRows(
  rates: ReadonlyMap<Case, readonly number[]>,
  settings: Settings,
): readonly ProcessingRow[] {
  const rows = Array.from(rates, ([one, values]) => ({
    ...one,
    calls: callsOf(one, settings),
    perSecond: measured(values),
  }))
  const plain = rows.find(({ subject }) => subject === 'plain')?.perSecond.median ?? Number.NaN
  return rows.map((row) => ({ ...row, ofPlain: row.perSecond.median / plain }))
}
