import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { SignedCallback } from '../../src/gateways/gateway.ts'
import { hours, minutes } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { readUsageOf } from '../../src/usage/read-usage.ts'
import type { SubscriptionDetails } from '../../src/wire/subscription-details.ts'
import { giveQuotas } from '../../src/money/give-quotas.ts'
import { findSubscription } from '../../src/database/subscriptions.ts'
import type { IntervalUnit } from '../../src/subscriptions/subscription.ts'
import { unusedAmount } from '../../src/subscriptions/unused-amount.ts'
import { shuffled } from '../../src/testing/index.ts'
import { openMoney, type MoneyBilling } from '../money/money-billing.ts'
import type { Ledger, Sale } from '../providers/ledger.ts'
import { longAgo, managedLives, type ManagedLives } from '../providers/managed-lives.ts'
import { diceOf, type Dice } from '../subscriptions/years/dice.ts'
import { onPostgres } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { quiet, settled } from '../support/settled.ts'

const used = 7n

interface Life {
  readonly at: ManagedLives
  readonly billing: MoneyBilling
  readonly dice: Dice
  readonly seed: number
  readonly id: string
  readonly paymentId: string
  readonly kept: SignedCallback[]
}

/** So many lives at each provider, from this seed on. */
export function liveOnAll(lives: number, first = Number(process.env['SEED'] ?? 0)): void {
  onPostgres((engine) => {
    for (const [name, start] of managedLives) {
      test(`${lives} subscriptions that ${name} manages stand as it has them, whatever was lost`, async (t) => {
        const at = await start()
        const billing = await openMoney(engine, at.provider)
        t.after(async () => {
          await billing.close()
          await at.provider.close()
        })
        for (let seed = first; seed < first + lives; seed += 1) await liveTruly(at, billing, seed)
      })
    }
  })
}

/**
 * A life of a subscription that its provider manages: what happens there is chosen by chance, and so
 * is what we hear of it, when and in which order. Once all is heard, it stands here as it does there.
 */
async function liveTruly(at: ManagedLives, billing: MoneyBilling, seed: number): Promise<void> {
  const dice = diceOf(seed)
  at.clock.now = undefined
  const { subscription, payment } = await billing.core.subscriptions.create({
    gateway: at.provider.gateway.name,
    managedBy: 'provider',
    payable: { type: 'account', id: newUuid() },
    amount: 4_999,
    currency: 'USD',
    every: dice.pick(['day', 'day', 'week']),
    customer: { email: 'payer@example.test' },
  })
  assert.ok(payment)
  const { id } = subscription
  const life: Life = { at, billing, dice, seed, id, paymentId: payment.id, kept: [] }
  at.clock.now = new Date(Date.now() - longAgo)
  at.provider.pay(payment.id)
  await tell(life)
  const counted = await giveUsed(life)
  for (let act = dice.below(5) + 1; act > 0; act -= 1) {
    if (!happen(life)) break
    await tell(life)
  }
  if (dice.chance(0.2)) {
    at.clock.now = new Date((at.clock.now ?? new Date()).getTime() + hours(1))
    at.end(payment.id)
    await tell(life)
  }
  at.provider.down = false
  for (const callback of life.kept.toReversed()) await billing.receive(callback)
  await quiet(billing)
  // Some of its answers may still be spoilt.
  await until(
    () =>
      billing.core.subscriptions.sync(id).then(
        () => true,
        () => false,
      ),
    { what: `life ${seed} is synced` },
  )
  await settled(billing)
  await compare(life, counted)
}

/** One thing happens there; false: there is no time left for it. */
function happen({ at, dice, paymentId }: Life): boolean {
  const { sales } = at.ledger(paymentId)
  const last = sales.at(-1)
  assert.ok(last)
  const { renewUndated, changePlan, extend } = at
  const early = new Date(last.startsAt.getTime() + dice.pick([minutes(2), hours(5)]))
  if (changePlan !== undefined && dice.chance(0.3)) {
    if (early.getTime() > Date.now() - hours(1)) return false
    at.clock.now = early
    const unit = dice.pick<IntervalUnit>(['day', 'week', 'year'])
    changePlan(paymentId, { every: { unit, count: 1 }, amount: BigInt(1_000 + dice.below(9_000)) })
    return true
  }
  if (last.endsAt.getTime() > Date.now() - hours(1)) return false
  if (extend !== undefined && dice.chance(0.3)) {
    extend(paymentId)
    return true
  }
  at.clock.now = last.endsAt
  const act = dice.below(4)
  if (act === 0) {
    at.failRenewal(paymentId)
    at.clock.now = new Date(last.endsAt.getTime() + hours(3))
    at.recover(paymentId)
  } else if (act === 1 && renewUndated !== undefined) renewUndated(paymentId)
  else at.renew(paymentId)
  return true
}

/** We hear of it: now or in the end, whole or in part, in any order; and can ask, or cannot. */
async function tell({ at, billing, dice, seed, paymentId, kept }: Life): Promise<void> {
  const { provider } = at
  const callbacks = at.callbacks(paymentId)
  provider.down = dice.chance(0.3)
  if (dice.chance(0.2)) provider.misbehave('subscription', dice.pick(['garbled', 'cut', 'down']))
  const how = dice.below(5)
  if (how === 0) return
  if (how === 1) {
    kept.push(...callbacks)
    return
  }
  const twice = callbacks.filter(() => dice.chance(0.3))
  const orders = [
    [...callbacks, ...twice],
    [...callbacks, ...twice].toReversed(),
    shuffled([...callbacks, ...twice, ...kept], seed),
  ]
  for (const callback of orders[how - 2] ?? []) await billing.receive(callback)
  if (!provider.down) await quiet(billing)
}

/** Some of a quota is used in the first period, if that is known by now. */
async function giveUsed({ billing, id }: Life): Promise<string | undefined> {
  const { processing, queue } = await billing.runtime.context()
  const { database, newId, subscriptionTime } = processing
  return database.transaction(async ({ db }) => {
    const subscription = await findSubscription(db, id)
    assert.ok(subscription)
    const now = await subscriptionTime(db)
    const given = { subscription, wanted: { api: { limit: 1_000n } }, now }
    await giveQuotas(db, given, { cause: 'operator', newId, queue })
    const { rows } = await sql<{ period: string | null }>`update billing.usage_counters
      set used = ${used} where subscription_id = ${id} and window_period_id is not null
      returning window_period_id as period`.execute(db)
    return rows[0]?.period ?? undefined
  })
}

/** What stands here is what the ledger says. */
async function compare(life: Life, counted: string | undefined): Promise<void> {
  const { at, billing, id, paymentId, seed } = life
  const found = await billing.core.subscriptions.get(id)
  assert.ok(found)
  const ledger = at.ledger(paymentId)
  const granted = found.periods
    .filter(({ state }) => state === 'paid')
    .toSorted((one, other) => one.startsAt.getTime() - other.startsAt.getTime())
  const { rows: ofMoney } = await sql<{ reason: string }>`
    select reason from billing.reviews where subscription_id = ${id} and reason like 'period%'`.execute(
    billing.database.db,
  )
  const what = `life ${seed} at ${at.provider.gateway.name}`
  const undated = ledger.sales.filter(({ isDated }) => !isDated)
  const isBought = (sale: Sale) =>
    granted.some(({ startsAt }) => startsAt.getTime() === sale.startsAt.getTime())
  // What says its time buys just that; the rest buys what is unpaid, or is for a person.
  const bought = ledger.sales.filter((sale) => sale.isDated || isBought(sale))
  // Of a period that is over nobody says any more that it had been extended.
  const asSold = granted.map((period, index) => {
    const sale = bought[index]
    const isOver = index < granted.length - 1 || ledger.endedAt !== null
    const isWithin =
      isOver &&
      sale !== undefined &&
      sale.soldUntil <= period.endsAt &&
      period.endsAt <= sale.endsAt
    return isWithin ? { ...period, endsAt: sale.endsAt } : period
  })
  assert.deepEqual(asSold.map(spanOf), bought.map(spanOf), what)
  assert.equal(ofMoney.length, undated.filter((sale) => !isBought(sale)).length, what)
  assert.equal(found.status, ledger.endedAt === null ? 'active' : 'canceled', what)
  const now = new Date()
  assert.equal(unusedAmount(found, now), unusedIn(granted, ledger, now), what)
  const current = granted.at(-1)
  assert.deepEqual(found.currentPeriod?.startsAt, current?.startsAt, what)
  // After the end no window follows.
  if (ledger.endedAt === null) await compareWindow(life, { found, counted, what })
}

const spanOf = ({ startsAt, endsAt, amount }: Pick<Sale, 'startsAt' | 'endsAt' | 'amount'>) =>
  `${startsAt.toISOString()} to ${endsAt.toISOString()} for ${amount}`

function unusedIn(
  sales: readonly Omit<Sale, 'isDated' | 'soldUntil'>[],
  { endedAt }: Ledger,
  now: Date,
): bigint {
  const at = Math.min(now.getTime(), endedAt?.getTime() ?? Infinity)
  return sales.reduce((sum, { startsAt, endsAt, amount }) => {
    const left = BigInt(Math.max(endsAt.getTime() - Math.max(at, startsAt.getTime()), 0))
    return sum + (amount * left) / BigInt(endsAt.getTime() - startsAt.getTime())
  }, 0n)
}

/** A quota counts in the current period; what was used stays used within it. */
async function compareWindow(
  { billing, id }: Life,
  {
    found,
    counted,
    what,
  }: { found: SubscriptionDetails; counted: string | undefined; what: string },
): Promise<void> {
  const { processing } = await billing.runtime.context()
  const [usage] = await readUsageOf(billing.database.db, { subscriptionId: id }, processing)
  assert.deepEqual(usage?.windowStartsAt, found.currentPeriod?.startsAt ?? null, what)
  assert.equal(usage?.used, found.currentPeriod?.id === counted ? used : 0n, what)
}
