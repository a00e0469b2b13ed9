import { join } from 'node:path'
import { fillBacklog, newPayments } from './backlog.ts'
import { untilFinished, verifyWork } from './finished-work.ts'
import { jobsPerSecond } from './jobs.ts'
import { startLoad, type Load } from './load.ts'
import { webhookPath } from './requests.ts'
import { repeatRounds, type Figure } from './rounds.ts'
import { startService, type BenchOptions, type ListenerKind } from './service.ts'

interface Case {
  readonly subject: string
  readonly kind: 'postgres' | 'embedded'
  readonly listener: ListenerKind
}

const cases: readonly Case[] = [
  { subject: 'PostgreSQL, no listener', kind: 'postgres', listener: 'no listener' },
  {
    subject: 'PostgreSQL, a listener inserts a row',
    kind: 'postgres',
    listener: 'a listener inserts a row',
  },
  {
    subject: 'embedded, a listener inserts a row',
    kind: 'embedded',
    listener: 'a listener inserts a row',
  },
]

interface Prepared {
  readonly payments: Readonly<Record<Case['kind'], readonly string[]>>
  readonly url: string
  readonly dataDir: string
  /** Has a backlog, for J. */
  readonly jobs: string
  readonly load: Load
}

/**
 * One process takes callbacks in and processes them at the same time: callbacks a second, from the
 * first one sent to the last event.
 */
export async function benchTogether(options: BenchOptions): Promise<readonly Figure[]> {
  const { settings, progress } = options
  const load = startLoad()
  try {
    const prepared = await prepare(load, options)
    const rounds = await repeatRounds(
      {
        count: settings.backlogRounds,
        baseline: 'J',
        progress: (round) => progress(`together, ${round}`),
      },
      async (each) => {
        const url = await options.server.create(prepared.jobs)
        const jobs = await jobsPerSecond(url, settings.together.postgres)
        each.add('J', { perSecond: jobs ?? Number.NaN })
        for (const one of cases) {
          each.add(one.subject, { perSecond: await runCase(one, prepared, options) })
        }
      },
    )
    return rounds.figures(['J'])
  } finally {
    load.stop()
  }
}

async function prepare(
  load: Load,
  { server, settings, folder, progress }: BenchOptions,
): Promise<Prepared> {
  const { together } = settings
  progress(`together: ${together.postgres} payments`)
  const payments = {
    postgres: newPayments(together.postgres),
    embedded: newPayments(together.embedded),
  }
  const url = await server.create()
  await fillBacklog({ url }, { payments: payments.postgres, callbacks: false })
  const jobs = await server.create()
  await fillBacklog({ url: jobs }, { payments: newPayments(together.postgres), callbacks: true })
  const dataDir = join(folder, 'together')
  await fillBacklog({ dataDir }, { payments: payments.embedded, callbacks: false })
  return { payments, url, dataDir, jobs, load }
}

async function runCase(
  { kind, listener }: Case,
  { payments, url, dataDir, load }: Prepared,
  options: BenchOptions,
): Promise<number> {
  const copyOf = kind === 'postgres' ? { url } : { dataDir }
  const service = await startService({ command: ['serve'], listener, copyOf }, options)
  const { running, database } = service
  try {
    await load.sign(payments[kind])
    const target = new URL(webhookPath, running.ready.url).href
    const { startedAt, refused } = await load.send({ url: target, connections: 64 })
    if (refused > 0) throw new Error(`together: ${refused} callbacks were not answered 200`)
    await Promise.race([untilFinished(database), running.failed])
    const calls = payments[kind].length
    await verifyWork(database, { listener, calls })
    const { rows } = await database.pool.query<{ last: Date }>(
      'select max(processed_at) as last from billing.webhook_calls',
    )
    return (calls * 1000) / ((rows[0]?.last.getTime() ?? Number.NaN) - startedAt)
  } finally {
    await service.stop()
  }
}
