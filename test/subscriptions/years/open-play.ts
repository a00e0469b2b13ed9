import { sql } from 'kysely'
import { coreOf } from '../../../src/billing/create-core.ts'
import type { BillingOptions } from '../../../src/billing/options.ts'
import { createRuntime, type Runtime } from '../../../src/billing/runtime.ts'
import type { BillingCore } from '../../../src/billing/types.ts'
import type { Database } from '../../../src/database/connect.ts'
import type { MoneyContext } from '../../../src/money/context.ts'
import { startCutProxy, type CutProxy } from '../../support/cut-proxy.ts'
import { postgres, type TestEngine } from '../../support/databases.ts'
import { migratedFolder } from '../../support/embedded-template.ts'
import {
  simulateClock,
  openSimulatedClock,
  type SimulatedClock,
} from '../../support/simulated-clock.ts'
import { stating } from '../../support/stating-gateway.ts'
import { diceOf, type Dice } from './dice.ts'
import { createTill, type Till } from './till.ts'

/** One process of ours, with a clock that goes with the database's. */
export interface Member {
  readonly core: BillingCore
  readonly context: MoneyContext
}

/** Everything around the subscriptions: their database, the processes, the provider, the time. */
export interface Play {
  readonly seed: number
  readonly dice: Dice
  readonly clock: SimulatedClock
  readonly till: Till
  readonly members: readonly [Member, ...Member[]]
  /** For looking at what there is. */
  readonly database: Database
  /** In front of the last member's database. */
  readonly proxy: CutProxy | undefined
  /** How often what has happened. */
  readonly tally: Map<string, number>
  readonly subscriptions: string[]
  isCalm: boolean
  hasRestored: boolean
}

const start = new Date('2027-01-05T08:00:00Z')

/** Events of subscriptions that we charge, without those about payments. */
const told = [
  'SubscriptionCreated',
  'SubscriptionRenewed',
  'SubscriptionPaymentFailed',
  'SubscriptionAccessSuspended',
  'SubscriptionCancelled',
  'SubscriptionPaused',
  'SubscriptionResumed',
  'TrialWillEnd',
  'TrialEnded',
  'SubscriptionPeriodEnding',
] as const

export async function openPlay(
  engine: TestEngine,
  seed: number,
): Promise<{ readonly play: Play; close(): Promise<void> }> {
  const { database, remove } = await placeOf(engine)
  let clock: SimulatedClock | undefined
  const now = () => clock?.now() ?? start
  const till = createTill({ seed, now })
  const options = { extraGateways: [stating, till.gateway], providerTimeoutMs: 30_000 }
  await prepare(database)
  const keeping = createRuntime({ ...options, webhook: { pruneAfterDays: 36_500 }, database })
  const keeper = coreOf(keeping)
  const { database: kept } = await keeping.opened()
  clock = await openSimulatedClock(kept, start)
  const time = clock
  const proxy = 'url' in database ? await startCutProxy(database.url) : undefined
  const joining = (given: BillingOptions) =>
    join(createRuntime({ ...options, webhook: { pruneAfterDays: 36_500 }, ...given }), {
      clock: time,
      seed,
    })
  // An embedded database has one process.
  const first = await (proxy === undefined
    ? join(keeping, { clock: time, seed })
    : joining({ database }))
  const others =
    proxy === undefined
      ? []
      : await Promise.all([joining({ database }), joining({ database: { url: proxy.url } })])
  const play: Play = {
    seed,
    dice: diceOf(seed),
    clock,
    till,
    members: [first, ...others],
    database: kept,
    proxy,
    tally: new Map(),
    subscriptions: [],
    isCalm: false,
    hasRestored: false,
  }
  const close = async () => {
    await Promise.all(play.members.map(({ core }) => core.close()))
    await keeper.close()
    await proxy?.close()
    await remove()
  }
  return { play, close }
}

async function prepare(database: NonNullable<BillingOptions['database']>): Promise<void> {
  const runtime = createRuntime({ database })
  const core = coreOf(runtime)
  await core.migrate()
  const { db } = (await runtime.opened()).database
  await sql`create schema shop`.execute(db)
  await sql`create table shop.told (subscription_id uuid not null, event uuid primary key,
    type text not null, dedup_key text not null unique,
    at bigint generated always as identity)`.execute(db)
  await simulateClock((await runtime.opened()).database, start)
  await core.close()
}

async function placeOf(engine: TestEngine) {
  if (engine === postgres) {
    const { url = '', drop } = await postgres.create()
    return { database: { url }, remove: drop }
  }
  const { dataDir, remove } = migratedFolder()
  return { database: { dataDir }, remove: async () => remove() }
}

/** Its workers begin. Listeners fail now and then, and write in the transaction of their event. */
async function join(
  runtime: Runtime,
  { clock, seed }: { readonly clock: SimulatedClock; readonly seed: number },
): Promise<Member> {
  const dice = diceOf(seed + 7)
  const at = (context: MoneyContext): MoneyContext => ({ ...context, now: clock.now })
  const timed: Runtime = {
    ...runtime,
    context: async () => at(await runtime.context()),
    entitledContext: async () => at(await runtime.entitledContext()),
  }
  const core = coreOf(timed)
  core.on([...told], 'tell', async ({ id, type, dedupKey, subscription }, { tx }) => {
    await tx.query(
      'insert into shop.told (subscription_id, event, type, dedup_key) values ($1, $2, $3, $4)',
      [subscription.id, id, type, dedupKey],
    )
    if (dice.chance(0.02)) throw new Error('the shop is not there')
  })
  await core.work()
  return { core, context: await timed.entitledContext() }
}
