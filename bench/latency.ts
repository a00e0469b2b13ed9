import type { Database } from '../src/database/connect.ts'
import { fillBacklog, newPayments } from './backlog.ts'
import { untilFinished, verifyWork } from './finished-work.ts'
import { startLoad } from './load.ts'
import { webhookPath } from './requests.ts'
import { createRounds, type Figure } from './rounds.ts'
import { open, startService, type BenchOptions, type ListenerKind } from './service.ts'
import { quantile } from './statistics.ts'

const connections = 32
const listenerKinds: readonly ListenerKind[] = ['no listener', 'a listener inserts a row']

/**
 * How long it takes from the answer to a callback until its event is committed, at a steady rate
 * that is far below what the service can do.
 */
export async function benchLatency(options: BenchOptions): Promise<readonly Figure[]> {
  const { server, settings, progress } = options
  const { perSecond, seconds } = settings.latency
  const payments = newPayments(perSecond * seconds)
  const url = await server.create()
  if (!(await keepsCommitTimes(url))) {
    progress('latency: the server does not keep the time of commits: track_commit_timestamp is off')
    return []
  }
  await fillBacklog({ url }, { payments, callbacks: false })
  const rounds = createRounds()
  for (let round = 1; round <= settings.backlogRounds; round += 1) {
    for (const listener of listenerKinds) {
      progress(`latency, round ${round} of ${settings.backlogRounds}: ${listener}`)
      rounds.add(listener, await runRound({ listener, payments, url }, options))
    }
  }
  return rounds.figures()
}

export async function keepsCommitTimes(url: string): Promise<boolean> {
  const { pool, close } = open({ kind: 'postgres', url })
  const { rows } = await pool.query<{ kept: string }>(
    `select current_setting('track_commit_timestamp') as kept`,
  )
  await close()
  return rows[0]?.kept === 'on'
}

interface Run {
  readonly listener: ListenerKind
  readonly payments: readonly string[]
  readonly url: string
}

async function runRound({ listener, payments, url }: Run, options: BenchOptions) {
  const load = startLoad()
  const service = await startService({ command: ['serve'], listener, copyOf: { url } }, options)
  const { running, database } = service
  try {
    await load.sign(payments)
    const target = new URL(webhookPath, running.ready.url).href
    const { perSecond } = options.settings.latency
    const { answeredAt, refused } = await load.send({ url: target, connections, perSecond })
    if (refused > 0) throw new Error(`latency: ${refused} callbacks were not answered 200`)
    await Promise.race([untilFinished(database), running.failed])
    await verifyWork(database, { listener, calls: payments.length })
    const committed = await committedAt(database)
    const times = payments
      .slice(settled(payments))
      .map((id) => (committed.get(id) ?? Number.NaN) - (answeredAt[id] ?? Number.NaN))
      .toSorted((a, b) => a - b)
    return { p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) }
  } finally {
    load.stop()
    await service.stop()
  }
}

/** The first fifth warms the service up. */
function settled(payments: readonly string[]): number {
  return Math.floor(payments.length / 5)
}

/** When the event of each payment was committed, by the server's own record. */
async function committedAt({ pool }: Database): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ payment_id: string; at: number }>(`
    select payment_id, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as at
    from billing.events`)
  return new Map(rows.map(({ payment_id: id, at }) => [id, at]))
}
