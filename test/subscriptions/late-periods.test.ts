/** Periods of which we hear late, in another order, or with corrected boundaries. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { readDetails } from '../../src/billing/subscription-reads.ts'
import { days, hours, seconds } from '../../src/kernel/duration.ts'
import { giveQuotas } from '../../src/money/give-quotas.ts'
import { unusedAmount } from '../../src/subscriptions/unused-amount.ts'
import { readUsageOf } from '../../src/usage/read-usage.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { quotaEvents } from '../usage/selling.ts'
import {
  begins,
  begun,
  monthFrom,
  openManaging,
  renews,
  changed,
  statementOf,
  type Managing,
} from './managing.ts'

onAnyDatabase((engine) => {
  let at: Managing
  before(async () => {
    at = await openManaging(engine)
  })
  after(() => at.billing.close())
  beforeEach(() => at.reset())

  /** A quota of 1000 a period, of which so many are used. */
  async function giveUsed(reference: string, used: number): Promise<void> {
    const { processing, queue } = at.context
    const { database, newId } = processing
    const subscription = await at.state(reference)
    const wanted = { api: { limit: 1_000n } }
    await database.transaction(({ db }) =>
      giveQuotas(
        db,
        { subscription, wanted, now: at.clock.now },
        { cause: 'operator', newId, queue },
      ),
    )
    await sql`update billing.usage_counters set used = ${used}`.execute(database.db)
  }

  async function shown(reference: string) {
    const { processing } = at.context
    const { db } = processing.database
    const { id } = await at.state(reference)
    const details = await readDetails(db, id, processing)
    assert.ok(details)
    const [usage] = await readUsageOf(db, { subscriptionId: id }, processing)
    return {
      period: details.currentPeriod?.startsAt,
      unused: unusedAmount(details, at.clock.now),
      starts: details.periods.map(({ startsAt }) => startsAt),
      window: usage?.windowStartsAt,
      used: usage?.used,
      resets: (await quotaEvents(processing.database, id)).length,
    }
  }

  test('of two periods that went unheard the earlier comes last: the present one stays the later', async () => {
    await begun(at, 'sub_1')
    const first = monthFrom(at.clock.now)
    const second = monthFrom(first.endsAt)
    const third = monthFrom(second.endsAt)
    at.pass(third.startsAt.getTime() - at.clock.now.getTime() + days(10))
    at.provider.stated.set('sub_1', statementOf('sub_1', third.startsAt))
    await at.say(renews('sub_1', 'ch_3', { period: third }), changed('sub_1'))
    await at.run()
    await giveUsed('sub_1', 700)
    const before = await shown('sub_1')
    const left = third.endsAt.getTime() - at.clock.now.getTime()
    const length = third.endsAt.getTime() - third.startsAt.getTime()
    assert.deepEqual(
      [before.period, before.window, before.used],
      [third.startsAt, third.startsAt, 700n],
    )
    assert.equal(before.unused, (4_999n * BigInt(left)) / BigInt(length))

    await at.say(renews('sub_1', 'ch_2', { period: second }), changed('sub_1'))
    await at.run()
    const starts = [first, second, third].map(({ startsAt }) => startsAt)
    assert.deepEqual(await shown('sub_1'), { ...before, starts })
    assert.deepEqual(await at.reviews(), [])
  })

  for (const by of [-hours(2), -seconds(1), seconds(1), hours(2)]) {
    test(`a sale keeps its time and what is used of its quota where its provider is ${by / 1_000} s off`, async () => {
      const sold = monthFrom(at.clock.now)
      const payment = await at.create()
      await at.say(begins(payment, 'sub_1', { period: sold }))
      await giveUsed('sub_1', 1_000)
      at.pass(days(5))
      const stated = new Date(sold.startsAt.getTime() + by)
      at.provider.stated.set('sub_1', statementOf('sub_1', stated))
      await at.say(changed('sub_1', payment))
      await at.run()
      const { period, window, used, resets } = await shown('sub_1')
      assert.deepEqual([period, window, used, resets], [sold.startsAt, sold.startsAt, 1_000n, 0])
    })
  }

  test('the first charge that is told again after many periods buys nothing', async () => {
    const payment = await at.create()
    const first = begins(payment, 'sub_1', { period: monthFrom(at.clock.now) })
    await at.say(first)
    const { id } = await at.state('sub_1')
    await sql`
      insert into billing.subscription_periods (id, subscription_id, number, kind, state, starts_at,
        ends_at, nominal_starts_at, amount, currency, status_before)
      select gen_random_uuid(), ${id}::uuid, n + 1, 'paid', 'paid', at, at + '1 day', at, 0, 'USD', 'active'
      from generate_series(1, 60) as n, lateral (
        select ${at.clock.now}::timestamptz + n * '1 day'::interval as at) as time`.execute(
      at.billing.database.db,
    )
    await at.say(first)
    assert.equal((await at.periods('sub_1')).length, 61)
    assert.deepEqual(await at.reviews(), [])
  })
})
