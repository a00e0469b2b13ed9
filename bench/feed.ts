import pg from 'pg'
import { setTimeout as pause } from 'node:timers/promises'
import { fillBacklog, newPayments } from './backlog.ts'
import { rateOf, untilFinished, verifyWork } from './finished-work.ts'
import { startLoad, type Load } from './load.ts'
import { webhookPath } from './requests.ts'
import { repeatRounds, type Figure } from './rounds.ts'
import { startService, type BenchOptions, type Service } from './service.ts'

/** Off: another session holds the row of the feed, so nothing is numbered. */
const withoutFeed = 'nothing is numbered'
const subjects = [withoutFeed, 'events are numbered', 'and read, by one reader'] as const
type Subject = (typeof subjects)[number]

interface Prepared {
  readonly load: Load
  readonly payments: readonly string[]
  /** Payments alone, and payments with their callbacks. */
  readonly empty: string
  readonly backlog: string
}

/** What the feed costs those who do not wait for it: intake and processing with it and without. */
export async function benchFeed(options: BenchOptions) {
  const load = startLoad()
  try {
    const prepared = await prepare(load, options)
    const processing = await roundsOf(options, 'a backlog', (subject) =>
      runBacklog(subject, prepared, options),
    )
    const together = await roundsOf(options, 'intake', (subject) =>
      runIntake(subject, prepared, options),
    )
    return { processing, together }
  } finally {
    load.stop()
  }
}

async function prepare(load: Load, { server, settings, progress }: BenchOptions) {
  progress(`feed: ${settings.feed} payments and calls`)
  const payments = newPayments(settings.feed)
  const empty = await server.create()
  await fillBacklog({ url: empty }, { payments, callbacks: false })
  const backlog = await server.create()
  await fillBacklog({ url: backlog }, { payments: newPayments(settings.feed), callbacks: true })
  return { load, payments, empty, backlog }
}

async function roundsOf(
  { settings, progress }: BenchOptions,
  what: string,
  run: (subject: Subject) => Promise<Readonly<Record<string, number>>>,
): Promise<readonly Figure[]> {
  const rounds = await repeatRounds(
    {
      count: settings.feedRounds,
      baseline: withoutFeed,
      progress: (round) => progress(`feed, ${what}, ${round}`),
    },
    async (each) => {
      for (const subject of subjects) each.add(subject, await run(subject))
    },
  )
  return rounds.figures([withoutFeed])
}

async function runBacklog(subject: Subject, { backlog }: Prepared, options: BenchOptions) {
  const listener = 'a listener inserts a row'
  const begunAt = new Date()
  const service = await startService(
    { command: ['work'], listener, copyOf: { url: backlog } },
    options,
  )
  const end = await arrange(subject, service)
  try {
    await Promise.race([untilFinished(service.database), service.running.failed])
    await verifyWork(service.database, { listener, calls: options.settings.feed })
    return { perSecond: await rateOf(service.database, begunAt) }
  } finally {
    await end()
    await service.stop()
  }
}

/** One process takes callbacks in and processes them. */
async function runIntake(
  subject: Subject,
  { load, payments, empty }: Prepared,
  options: BenchOptions,
) {
  const listener = 'no listener'
  const service = await startService(
    { command: ['serve'], listener, copyOf: { url: empty } },
    options,
  )
  const end = await arrange(subject, service)
  try {
    await load.sign(payments)
    const url = new URL(webhookPath, service.running.ready.url).href
    const { startedAt, refused, perSecond } = await load.send({ url, connections: 64 })
    if (refused > 0) throw new Error(`feed: ${refused} callbacks were not answered 200`)
    await Promise.race([untilFinished(service.database), service.running.failed])
    await verifyWork(service.database, { listener, calls: payments.length })
    const { rows } = await service.database.pool.query<{ last: Date }>(
      'select max(processed_at) as last from billing.webhook_calls',
    )
    const seconds = ((rows[0]?.last.getTime() ?? Number.NaN) - startedAt) / 1000
    return { perSecond, processedPerSecond: payments.length / seconds }
  } finally {
    await end()
    await service.stop()
  }
}

/** Returns what ends it; fails if the feed is not as it was to be. */
async function arrange(subject: Subject, service: Service): Promise<() => Promise<void>> {
  const { connection } = service.database
  if (subject === withoutFeed) {
    const holder = new pg.Client({ ...connection, idle_in_transaction_session_timeout: 0 })
    await holder.connect()
    await holder.query('begin')
    await holder.query(`select from billing.feeds where name = 'events' for update`)
    return () => holder.end()
  }
  const reader = new AbortController()
  const reading =
    subject === 'and read, by one reader' ? read(connection, reader.signal) : undefined
  return async () => {
    await allNumbered(service)
    reader.abort()
    await reading
  }
}

async function allNumbered({ database }: Service): Promise<void> {
  for (let looks = 0; looks < 600; looks += 1) {
    const { rows } = await database.pool.query<{ open: boolean }>(
      'select exists (select from billing.events where position is null) as open',
    )
    if (rows[0]?.open === false) return
    await pause(50)
  }
  throw new Error('feed: some events were never numbered')
}

/** Reads on as an app does that polls without a pause to speak of. */
async function read(connection: pg.ClientConfig, signal: AbortSignal): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  let position = 0n
  while (!signal.aborted) {
    const { rows } = await client.query<{ position: bigint }>(
      'select * from billing.events where position > $1 order by position limit 500',
      [position],
    )
    position = rows.at(-1)?.position ?? position
    await pause(20)
  }
  await client.end()
}
