import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { newUuid } from '../src/kernel/ids.ts'
import type { Database } from '../src/database/connect.ts'
import { migrate } from '../src/database/migrate.ts'
import { readCounters } from '../src/database/usage-counters.ts'
import { start } from './processes.ts'
import { createRounds, repeatRounds, type Figure } from './rounds.ts'
import { open, type BenchOptions } from './service.ts'
import { quantile } from './statistics.ts'
import type { UsageDone, UsageOrder } from './usage-process.ts'

const plain = 'an update a record'
const flushes = 'P: a bare update'

interface Usage {
  /** By how many subscriptions are recorded of. */
  readonly recorded: ReadonlyMap<number, readonly Figure[]>
  readonly reads: readonly Figure[]
}

/** How fast usage is recorded, of one subscription and of many, and what it costs to look it up. */
export async function benchUsage(options: BenchOptions): Promise<Usage> {
  const { server, settings, progress } = options
  const { subscriptions } = settings.usage
  const copyOf = await server.create()
  await fillCounters(copyOf, subscriptions)
  const recorded = new Map<number, readonly Figure[]>()
  for (const count of [1, subscriptions]) {
    const rounds = await repeatRounds(
      {
        count: settings.usage.rounds,
        baseline: plain,
        progress: (round) => progress(`usage of ${count}, ${round}`),
      },
      async (each) => {
        const run = (subject: UsageOrder['subject'], processes: number) =>
          runRound({ subject, processes, count, copyOf }, options)
        each.add(plain, { perSecond: await run('plain', 1) })
        const bare = await barePerSecond({ count, copyOf }, options)
        if (bare === undefined) progress('pgbench is missing: no P')
        each.add(flushes, { perSecond: bare ?? Number.NaN })
        each.add('usage.record', { perSecond: await run('library', 1) })
        each.add('usage.record, 2 processes', { perSecond: await run('library', 2) })
      },
    )
    recorded.set(count, rounds.figures([plain]))
  }
  return { recorded, reads: await measureReads(copyOf, settings.usage) }
}

/** Counters in a window that lasts for weeks. */
async function fillCounters(url: string, count: number): Promise<void> {
  const database = open({ kind: 'postgres', url })
  try {
    await migrate(database)
    const ids = Array.from({ length: count }, newUuid)
    await database.pool.query(
      `insert into billing.usage_counters (subscription_id, quota, units_limit, anchor_at, time_zone,
         window_starts_at, window_ends_at, percents, event_number, look_at)
       select id, 'api_calls', 1000000000, now(), 'UTC', now(), now() + interval '1 month', '{80,100}',
         0, now() + interval '1 month'
       from unnest($1::uuid[]) as id`,
      [ids],
    )
    await database.pool.query('create table usage_done (counted int, per_second float8)')
    await database.pool.query('vacuum analyze billing.usage_counters')
  } finally {
    await database.close()
  }
}

interface Round {
  readonly subject: UsageOrder['subject']
  readonly processes: number
  /** Of how many subscriptions. */
  readonly count: number
  readonly copyOf: string
}

async function runRound(
  { subject, processes, count, copyOf }: Round,
  { server, settings }: BenchOptions,
) {
  const url = await server.create(copyOf)
  const { milliseconds, senders } = settings.usage
  const order: UsageOrder = { url, subject, subscriptions: count, milliseconds, senders }
  const env = { USAGE: JSON.stringify(order) }
  const running = await Promise.all(
    Array.from({ length: processes }, () => start(['usage-process.ts'], { env })),
  )
  const database = open({ kind: 'postgres', url })
  try {
    const finished = untilDone(database, processes)
    const done = await Promise.race([finished, ...running.map(({ failed }) => failed)])
    await verifyUsage(database, { subject, counted: done.counted })
    return done.perSecond
  } finally {
    await Promise.all(running.map(({ stop }) => stop()))
    await database.close()
  }
}

const pollMs = 100
const doneWithinMs = 120_000

async function untilDone({ pool }: Database, processes: number): Promise<UsageDone> {
  const deadline = performance.now() + doneWithinMs
  while (performance.now() < deadline) {
    const { rows } = await pool.query<UsageDone & { readonly count: number }>(
      `select count(*)::int as count, sum(counted)::int as counted,
         sum(per_second) as "perSecond" from usage_done`,
    )
    const [done] = rows
    if (done?.count === processes) return done
    await pause(pollMs)
  }
  throw new Error(`usage was not recorded within ${doneWithinMs / 1000} s`)
}

/** A figure counts only if every record is counted, once, and of its own subscription. */
export async function verifyUsage(
  { pool }: Pick<Database, 'pool'>,
  { subject, counted }: Pick<Round, 'subject'> & { readonly counted: number },
): Promise<void> {
  const { rows } = await pool.query<{ used: number; keys: number; wrong: number }>(
    `select sum(coalesce(used, 0))::int as used, sum(coalesce(keys, 0))::int as keys,
       count(*) filter (where used is distinct from coalesce(keys, 0))::int as wrong
     from billing.usage_counters full join (
       select subscription_id, quota, count(*) as keys from billing.usage_keys
       group by subscription_id, quota
     ) as known using (subscription_id, quota)`,
  )
  const found = rows[0]
  // An update a record writes no keys: only their number can be right.
  const keys = subject === 'library' ? counted : 0
  const isRight = subject === 'library' ? found?.wrong === 0 : true
  if (found?.used === counted && found.keys === keys && isRight) return
  throw new Error(`usage: ${JSON.stringify(found)} instead of ${counted} of ${keys} keys`)
}

const clients = 8

/** What the server does of single updates, each committed, with prepared statements; by pgbench. */
async function barePerSecond(
  { count, copyOf }: Pick<Round, 'count' | 'copyOf'>,
  { server, settings, folder }: BenchOptions,
): Promise<number | undefined> {
  const url = await server.create(copyOf)
  const database = open({ kind: 'postgres', url })
  const script = join(folder, 'bare-update.sql')
  try {
    await database.pool.query('create table numbered (n int primary key, id uuid not null)')
    await database.pool.query(
      `insert into numbered select row_number() over (order by subscription_id), subscription_id
       from billing.usage_counters order by subscription_id limit $1`,
      [count],
    )
  } finally {
    await database.close()
  }
  const line = `\\set n random(1, ${count})
update billing.usage_counters set used = used + 1
  where quota = 'api_calls' and subscription_id = (select id from numbered where n = :n);\n`
  await writeFile(script, line)
  const seconds = Math.max(1, Math.round(settings.usage.milliseconds / 1000))
  const flags = ['--no-vacuum', '--protocol=prepared', `--file=${script}`, `--client=${clients}`]
  try {
    const args = [...flags, '--jobs=2', `--time=${seconds}`, url]
    const { stdout } = await promisify(execFile)('pgbench', args)
    return Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1])
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** A quota among all of them, and the least that a statement costs. */
async function measureReads(
  url: string,
  { reads }: BenchOptions['settings']['usage'],
): Promise<readonly Figure[]> {
  const database = open({ kind: 'postgres', url })
  // The pool has one connection; it prepares the statement as a service's does.
  database.preparing.isOn = true
  const rounds = createRounds()
  const none = 'select 1'
  const time = async (work: (place: number) => Promise<unknown>) => {
    const took: number[] = []
    for (let place = 0; place < reads; place += 1) {
      const begun = performance.now()
      await work(place)
      took.push(performance.now() - begun)
    }
    return quantile(
      took.toSorted((a, b) => a - b),
      0.5,
    )
  }
  try {
    const { rows } = await database.pool.query<{ id: string }>(
      'select subscription_id as id from billing.usage_counters',
    )
    const now = new Date()
    const asked = (place: number) => rows[place % rows.length]?.id ?? ''
    rounds.add(none, { ms: await time(() => database.pool.query(none)) })
    rounds.add('one quota', {
      ms: await time((place) =>
        readCounters(database.db, { subscriptionId: asked(place), quota: 'api_calls' }, now),
      ),
    })
    return rounds.figures([none])
  } finally {
    await database.close()
  }
}
