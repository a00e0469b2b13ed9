import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { fillBacklog, newPayments } from './backlog.ts'
import { startReceivers, type Receivers } from './receivers.ts'
import { createRounds, type Figure } from './rounds.ts'
import { startService, type BenchOptions, type Service } from './service.ts'

const alone = 'those that live alone'
const besideDead = 'beside dead ones'

/** How much later than without dead ones p99 may be, of so many events that the ratio says something. */
const mostLater = 1.5
const manyEvents = 1_000
/** Requests that a dead one may get while the others get all. */
const mostToDead = 30
const pollMs = 1_000
const finishedWithinMs = 30 * 60_000

/**
 * How fast many endpoints get many events, each signed and each once, and what it costs them that
 * others are dead: hang, refuse, have no name, or reset.
 */
export async function benchForwarding(options: BenchOptions): Promise<readonly Figure[]> {
  const { server, settings, progress } = options
  const { events, living, dead } = settings.forwarding
  const copyOf = await server.create()
  await fillBacklog({ url: copyOf }, { payments: newPayments(events), callbacks: false })
  const rounds = createRounds()
  const run = async (subject: string, deadOnes: number) => {
    progress(`forwarding: ${events} events to ${living} endpoints, ${subject}`)
    const result = await runOnce({ copyOf, living, dead: deadOnes }, options)
    rounds.add(subject, result)
    return result.p99Ms
  }
  const p99Alone = await run(alone, 0)
  const later = (await run(besideDead, dead)) / p99Alone
  if (events >= manyEvents && later > mostLater) {
    throw new Error(`forwarding: beside dead ones p99 is ${later.toFixed(2)} times as late`)
  }
  return rounds.figures([alone])
}

interface Run {
  readonly copyOf: string
  readonly living: number
  readonly dead: number
}

async function runOnce({ copyOf, living, dead }: Run, options: BenchOptions) {
  const receivers = await startReceivers(living, dead)
  const { events } = options.settings.forwarding
  const config = configFor(receivers)
  const command = ['work'] as const
  const started = { command, listener: 'no listener', copyOf: { url: copyOf }, config } as const
  const service = await startService(started, options)
  try {
    await untilDeclared(service, living + dead)
    const begun = Date.now()
    await insertEvents(service)
    const report = await Promise.race([untilAll(receivers, events), service.running.failed])
    if (report.repeated > 0) throw new Error(`forwarding: ${report.repeated} were sent twice`)
    await verifyDead(service, dead)
    return {
      p99Ms: report.p99At - begun,
      p50Ms: report.p50At - begun,
      perSecond: (events * living) / ((report.lastAt - begun) / 1000),
    }
  } finally {
    await service.stop()
    receivers.stop()
  }
}

function configFor({ places }: Receivers): string {
  const secret = () => `whsec_${randomBytes(32).toString('base64')}`
  const named = (kind: string) => (url: string, index: number) =>
    [`${kind}-${index}`, { url, secret: secret() }] as const
  const endpoints = Object.fromEntries([
    ...places.living.map(named('living')),
    ...places.dead.map(named('dead')),
  ])
  return `export default ${JSON.stringify({ forward: { endpoints } })}`
}

async function untilDeclared({ database }: Service, count: number): Promise<void> {
  for (let looks = 0; looks < 120; looks += 1) {
    const { rows } = await database.pool.query<{ count: number }>(
      'select count(*)::integer as count from billing.endpoints',
    )
    if (rows[0]?.count === count) return
    await pause(pollMs)
  }
  throw new Error('forwarding: the endpoints were never written down')
}

/** One about each payment, as if all had been paid at once. */
async function insertEvents({ database }: Service): Promise<void> {
  await database.pool.query(`insert into billing.events
    (id, dedup_key, type, payment_id, source, data)
    select gen_random_uuid(), 'payment:paid:' || id, 'PaymentSucceeded', id, 'call', '{}'
    from billing.payments`)
}

async function untilAll(receivers: Receivers, events: number) {
  const deadline = performance.now() + finishedWithinMs
  while (performance.now() < deadline) {
    const report = await receivers.report()
    if (report.fewest === events) return report
    await pause(pollMs)
  }
  throw new Error(`forwarding was not finished within ${finishedWithinMs / 60_000} minutes`)
}

/** Each dead one was left alone soon. */
async function verifyDead({ database }: Service, dead: number): Promise<void> {
  const { rows } = await database.pool.query<{ name: string; requests: number }>(`
    select name, (select count(*) from billing.forward_attempts where endpoint_id = one.id)::integer
      as requests
    from billing.endpoints as one where name like 'dead-%'`)
  const wrong = rows.filter(({ requests }) => requests >= mostToDead)
  if (rows.length === dead && wrong.length === 0) return
  throw new Error(`forwarding: requests to the dead: ${JSON.stringify(rows)}`)
}
