import { setTimeout as pause } from 'node:timers/promises'
import { takeDueSubscriptions } from '../src/queue/due-subscriptions.ts'
import type { Database } from '../src/database/connect.ts'
import { newUuid } from '../src/kernel/ids.ts'
import { start, type Running } from './processes.ts'
import type { RenewalsOrder } from './renewals-process.ts'
import { startProvider, type RenewalsProvider } from './renewals-provider.ts'
import { fillSubscriptions } from './renewals-rows.ts'
import { createRounds, repeatRounds, type Figure } from './rounds.ts'
import { open, type BenchOptions } from './service.ts'
import { quantile } from './statistics.ts'

const ownLoop = 'C: a loop of payments'
/** Of the loop, which has nothing to share out. */
const loopProcesses = 2
const subjects = [
  { processes: 1, lanes: 4 },
  { processes: 2, lanes: 4 },
  { processes: 4, lanes: 4 },
]

interface Renewals {
  readonly renewals: readonly Figure[]
  readonly looks: readonly Figure[]
}

/**
 * How fast due subscriptions are renewed, each charged once by whichever process takes it, and what
 * it costs to look for them when none is due.
 */
export async function benchRenewals(options: BenchOptions): Promise<Renewals> {
  const { server, settings, progress } = options
  const { due, resting, rounds: count } = settings.renewals
  progress(`renewals: ${due} due subscriptions, ${resting} at rest`)
  const copyOf = await server.create()
  await fillSubscriptions(copyOf, settings.renewals)
  const looks = await measureLooks(copyOf, settings.renewals)
  const rounds = await repeatRounds(
    { count, baseline: ownLoop, progress: (round) => progress(`renewals, ${round}`) },
    async (each) => {
      const loop = { processes: loopProcesses, lanes: 4, loop: true }
      each.add(ownLoop, { perSecond: await runRound({ ...loop, copyOf }, options) })
      for (const subject of subjects) {
        const perSecond = await runRound({ ...subject, loop: false, copyOf }, options)
        each.add(`${subject.processes} x ${subject.lanes} lanes`, { perSecond })
      }
    },
  )
  return { renewals: rounds.figures([ownLoop]), looks }
}

interface Round {
  readonly processes: number
  readonly lanes: number
  /** Whether the cards are charged by the loop, or by the product's worker. */
  readonly loop: boolean
  readonly copyOf: string
}

async function runRound(
  { processes, lanes, loop, copyOf }: Round,
  { server, settings }: BenchOptions,
): Promise<number> {
  const { due } = settings.renewals
  const url = await server.create(copyOf)
  const database = open({ kind: 'postgres', url })
  const provider = await startProvider(processes)
  const running: Running<unknown>[] = []
  try {
    for (let index = 0; index < processes; index += 1) {
      const order = {
        url,
        base: provider.base,
        lanes,
        ...(loop && { share: { index, processes } }),
      }
      running.push(await startProcess(order))
    }
    const finished = untilFinished(database, { count: due, loop })
    await Promise.race([finished, ...running.map(({ failed }) => failed)])
    await verifyRenewals(database, provider, { count: due, loop })
    return await rateOf(database, await provider.begun, due)
  } finally {
    await Promise.all(running.map(({ stop }) => stop()))
    await provider.close()
    await database.close()
  }
}

function startProcess(order: RenewalsOrder): Promise<Running<unknown>> {
  return start(['renewals-process.ts'], { env: { RENEWALS: JSON.stringify(order) } })
}

interface Expected {
  readonly count: number
  readonly loop: boolean
}

const pollMs = 250
const finishedWithinMs = 240_000

async function untilFinished({ pool }: Database, { count, loop }: Expected): Promise<void> {
  const type = loop ? 'PaymentSucceeded' : 'SubscriptionRenewed'
  const deadline = performance.now() + finishedWithinMs
  while (performance.now() < deadline) {
    const { rows } = await pool.query<{ done: boolean }>(
      'select count(*) >= $2 as done from billing.events where type = $1',
      [type, count],
    )
    if (rows[0]?.done === true) return
    await pause(pollMs)
  }
  throw new Error(`the renewals were not finished within ${finishedWithinMs / 1000} s`)
}

/** A figure counts only if every subscription was charged once, and granted what it paid for. */
async function verifyRenewals(
  { pool }: Database,
  { asked }: RenewalsProvider,
  { count, loop }: Expected,
): Promise<void> {
  const { rows } = await pool.query<Record<string, number>>(`
    select (select count(*) from billing.payments where status = 'paid')::integer as paid,
      (select count(*) from billing.events where type = 'PaymentSucceeded')::integer as told,
      (select count(*) from billing.subscription_periods where state = 'paid')::integer as granted,
      (select count(distinct paid_payment_id) from billing.subscription_periods)::integer as bought,
      (select count(*) from billing.subscriptions where status = 'active'
        and gateway = 'bench' and paid_until > statement_timestamp())::integer as subscribed,
      (select count(*) from billing.events where type = 'SubscriptionRenewed')::integer as renewed,
      (select count(distinct subscription_id) from billing.events)::integer as subscriptions,
      (select count(*) from billing.reviews)::integer as reviews`)
  const requests = [...asked.values()].reduce((sum, times) => sum + times, 0)
  const found = { requests, charged: asked.size, ...rows[0] }
  const ofRenewals = loop ? 0 : count
  const wanted = {
    requests: count,
    charged: count,
    paid: count,
    told: count,
    granted: ofRenewals,
    bought: ofRenewals,
    subscribed: ofRenewals,
    renewed: ofRenewals,
    subscriptions: ofRenewals,
    reviews: 0,
  }
  if (JSON.stringify(found) === JSON.stringify(wanted)) return
  throw new Error(`renewals: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`)
}

/** From the moment when all processes were ready to the last event, by one machine's clock. */
async function rateOf({ pool }: Database, begun: Date, count: number): Promise<number> {
  const { rows } = await pool.query<{ seconds: number }>(
    'select extract(epoch from max(created_at) - $1)::float8 as seconds from billing.events',
    [begun],
  )
  return count / (rows[0]?.seconds ?? Number.NaN)
}

/** What a process does every two seconds while nothing is due, and the least that a statement costs. */
async function measureLooks(
  url: string,
  { resting, looks }: BenchOptions['settings']['renewals'],
): Promise<readonly Figure[]> {
  const database = open({ kind: 'postgres', url })
  // The pool has one connection; it prepares the statement as a worker's does.
  database.preparing.isOn = true
  const rounds = createRounds()
  const now = new Date(0)
  const none = 'select 1'
  const time = async (work: () => Promise<unknown>) => {
    const took: number[] = []
    for (let look = 0; look < looks; look += 1) {
      const begun = performance.now()
      await work()
      took.push(performance.now() - begun)
    }
    return quantile(
      took.toSorted((a, b) => a - b),
      0.5,
    )
  }
  try {
    rounds.add(none, { ms: await time(() => database.pool.query(none)) })
    const take = () =>
      takeDueSubscriptions(database.db, {
        managedBy: 'local',
        now,
        ours: new Date(),
        limit: 1,
        token: newUuid(),
        except: [],
      })
    rounds.add(`among ${resting.toLocaleString('en')}`, { ms: await time(take) })
  } finally {
    await database.close()
  }
  return rounds.figures([none])
}
