import { join } from 'node:path'
import { fillBacklog, newPayments } from './backlog.ts'
import { rateOf, untilFinished, verifyWork } from './finished-work.ts'
import { jobsPerSecond } from './jobs.ts'
import { start } from './processes.ts'
import { repeatRounds, type Figure, type Rounds } from './rounds.ts'
import { open, startService, type BenchOptions, type ListenerKind } from './service.ts'

const listenerKinds: readonly ListenerKind[] = [
  'no listener',
  'a listener inserts a row',
  'a queued listener',
]

/** The backlogs that are copied for each run, so that every run meets the same one. */
interface Backlogs {
  readonly url: string
  readonly dataDir: string
}

/** How fast a backlog is processed, by one worker. */
export async function benchProcessing(options: BenchOptions): Promise<readonly Figure[]> {
  const backlogs = await makeBacklogs(options)
  const rounds = await repeatRounds(
    {
      count: options.settings.backlogRounds,
      baseline: 'J',
      progress: (round) => options.progress(`processing, ${round}`),
    },
    (each) => runRound(each, backlogs, options),
  )
  return rounds.figures(['J', 'a transaction each'])
}

async function makeBacklogs({ server, settings, folder, progress }: BenchOptions) {
  const { postgres, embedded } = settings.backlog
  progress(`${postgres} payments and calls for PostgreSQL`)
  const url = await server.create()
  await fillBacklog({ url }, { payments: newPayments(postgres), callbacks: true })
  progress(`${embedded} payments and calls for the embedded database`)
  const dataDir = join(folder, 'backlog')
  await fillBacklog({ dataDir }, { payments: newPayments(embedded), callbacks: true })
  return { url, dataDir }
}

async function runRound(
  rounds: Rounds,
  { url, dataDir }: Backlogs,
  options: BenchOptions,
): Promise<void> {
  const { server, settings } = options
  const { postgres, embedded } = settings.backlog
  const jobs = await jobsPerSecond(await server.create(url), postgres)
  if (jobs === undefined) options.progress('pgbench is missing: no J')
  rounds.add('J', { perSecond: jobs ?? Number.NaN })
  rounds.add('a transaction each', { perSecond: await runPlain(url, options) })
  for (const listener of listenerKinds) {
    const rate = await runWorker({ listener, calls: postgres, copyOf: { url } }, options)
    rounds.add(`PostgreSQL, ${listener}`, { perSecond: rate })
  }
  for (const listener of listenerKinds) {
    const rate = await runWorker({ listener, calls: embedded, copyOf: { dataDir } }, options)
    rounds.add(`embedded, ${listener}`, { perSecond: rate })
  }
}

interface Run {
  readonly listener: ListenerKind
  readonly calls: number
  /** Calls that were finished before. */
  readonly before?: number
  readonly copyOf: { readonly url: string } | { readonly dataDir: string }
}

export async function runWorker(
  { listener, calls, before = 0, copyOf }: Run,
  options: BenchOptions,
): Promise<number> {
  const command = 'url' in copyOf ? 'work' : 'serve'
  const begunAt = new Date()
  const { running, database, stop } = await startService(
    { command: [command], listener, copyOf },
    options,
  )
  try {
    await Promise.race([untilFinished(database), running.failed])
    await verifyWork(database, { listener, calls, before })
    return await rateOf(database, begunAt)
  } finally {
    await stop()
  }
}

async function runPlain(copyOf: string, { server, settings }: BenchOptions): Promise<number> {
  const url = await server.create(copyOf)
  const running = await start(['plain-worker.ts'], { env: { DATABASE_URL: url } })
  const database = open({ kind: 'postgres', url })
  try {
    await Promise.race([untilFinished(database), running.failed])
    await verifyWork(database, { listener: 'no listener', calls: settings.backlog.postgres })
    return await rateOf(database)
  } finally {
    await database.close()
    await running.stop()
  }
}
