import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { takeDueSubscriptions } from '../../src/queue/due-subscriptions.ts'
import { days, hours } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { giveQuotas } from '../../src/money/give-quotas.ts'
import { syncLeased } from '../../src/money/sync-subscription.ts'
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

/** What a merchant sells at the provider. */
const sold = {
  gateway: 'managing',
  managedBy: 'provider',
  amount: 4_999,
  currency: 'USD',
  every: 'month',
  payable: { type: 'account', id: '7' },
} as const

onAnyDatabase((engine) => {
  let at: Managing
  before(async () => {
    at = await openManaging(engine, { gateways: { 'managing-eu': { driver: 'managing' } } })
  })
  after(() => at.billing.close())
  beforeEach(() => at.reset())

  for (const isBellFirst of [false, true]) {
    const order = isBellFirst ? 'after' : 'before'
    test(`the first charge after a trial is granted, its checkout reported ${order} the change`, async () => {
      const trialEndsAt = new Date(Math.ceil(Date.now() / days(1)) * days(1) + days(14))
      const { payment } = await at.billing.core.subscriptions.create({ ...sold, trialEndsAt })
      assert.ok(payment)
      const startsAt = new Date()
      const trial = { startsAt, endsAt: trialEndsAt }
      const trialing = { status: 'trialing', trialEndsAt, currentPeriod: trial } as const
      at.provider.stated.set('sub_1', statementOf('sub_1', startsAt, trialing))
      const checkout = begins(payment, 'sub_1', { amount: 0n, period: trial })
      if (isBellFirst) {
        await at.say(changed('sub_1', payment))
        await at.run()
        await at.say(checkout)
      } else {
        await at.say(checkout, changed('sub_1', payment))
      }
      await at.run()
      const [given] = await at.periods('sub_1')
      assert.deepEqual([given?.kind, given?.state, given?.endsAt], ['trial', 'free', trialEndsAt])
      assert.equal((await at.state('sub_1')).paidUntil, null)

      at.pass(trialEndsAt.getTime() - at.clock.now.getTime() + hours(1))
      at.provider.stated.set('sub_1', statementOf('sub_1', trialEndsAt, { trialEndsAt }))
      const first = monthFrom(trialEndsAt)
      await at.say(renews('sub_1', 'ch_1', { period: first }), changed('sub_1'))
      await at.run()
      assert.deepEqual((await at.state('sub_1')).paidUntil, first.endsAt)
      assert.notEqual((await at.payment('ch_1')).periodId, null)
    })
  }

  test('money of another subscription that names the same payment grants nothing of the first', async () => {
    const payment = await begun(at, 'sub_dear')
    const { endsAt } = monthFrom(at.clock.now)
    const period = monthFrom(endsAt)
    at.provider.stated.set('sub_dear', statementOf('sub_dear', endsAt))
    const cheap = { renews: { id: payment.id }, amount: 100n, period }
    assert.deepEqual(await at.say(renews('sub_cheap', 'ch_cheap', cheap)), ['another_subscription'])
    await at.run()
    assert.deepEqual((await at.state('sub_dear')).paidUntil, endsAt)
    assert.equal((await at.payment('ch_cheap')).periodId, null)
    await at.say(renews('sub_dear', 'ch_dear', { period }))
    assert.deepEqual((await at.state('sub_dear')).paidUntil, period.endsAt)
  })

  test('one that has not begun here is not linked to another than its payment began', async () => {
    const { db } = at.billing.database
    const { payment } = await at.billing.core.subscriptions.create(sold)
    assert.ok(payment)
    // It is paid, and not linked yet.
    await sql`update billing.payments set status = 'paid', subscription_reference = 'sub_mine'
      where id = ${payment.id}::uuid`.execute(db)
    assert.deepEqual(await at.say(changed('sub_other', payment)), ['subscription_mismatch'])
    assert.equal(await at.find('sub_other'), undefined)
  })

  test('what another account says of a subscription asks nobody, and links nothing', async () => {
    const { payment } = await at.billing.core.subscriptions.create(sold)
    assert.ok(payment)
    const sayByAnother = async () => {
      const call = await at.billing.sayBy('managing-eu', { ...changed('sub_1', payment) })
      return at.billing.resultsOf(call)
    }
    assert.deepEqual(await sayByAnother(), ['gateway_mismatch'])
    assert.equal(await at.find('sub_1'), undefined)
    at.provider.stated.set('sub_1', statementOf('sub_1', at.clock.now))
    await at.say(begins(payment, 'sub_1', { period: monthFrom(at.clock.now) }))
    await at.run()
    assert.deepEqual(await sayByAnother(), ['gateway_mismatch'])
    assert.equal(await at.run(), 0)
  })

  test('a payment that another subscription has named is shown to a person once it is paid', async () => {
    const payment = await at.create()
    at.provider.stated.set(
      'sub_try',
      statementOf('sub_try', at.clock.now, { status: 'incomplete' }),
    )
    await at.say(changed('sub_try', payment))
    await at.run()
    at.provider.stated.set('sub_own', statementOf('sub_own', at.clock.now))
    const paid = begins(payment, 'sub_own', { period: monthFrom(at.clock.now) })
    await at.say(paid, changed('sub_own', payment))
    await at.run()
    assert.ok((await at.reviews()).includes('another_subscription'))
    assert.equal(await at.find('sub_own'), undefined)
  })

  test('a statement that cannot be written is shown, and keeps no others waiting', async () => {
    await begun(at, 'sub_1')
    // The database knows no such length.
    const every = { unit: 'day', count: 1_095 } as const
    at.provider.stated.set('sub_1', statementOf('sub_1', at.clock.now, { every }))
    await at.say(changed('sub_1'))
    await at.run()
    const { actionError, nextActionAt } = await at.state('sub_1')
    assert.notEqual(actionError, null)
    assert.ok(nextActionAt !== null && nextActionAt > at.clock.now)
  })

  test('one that is ended while its sync begins is not due again', async () => {
    await at.billing.core.subscriptions.create(sold)
    const { db } = at.billing.database
    await sql`update billing.subscriptions
      set next_action_at = statement_timestamp() - interval '1 minute'`.execute(db)
    const taking = { now: at.clock.now, ours: new Date(), limit: 1, token: newUuid(), except: [] }
    const [lease] = await takeDueSubscriptions(db, { ...taking, managedBy: 'provider' })
    assert.ok(lease)
    // As whoever ends what was never begun writes it.
    await sql`update billing.subscriptions set status = 'canceled', ended_at = now(),
      end_reason = 'requested', next_action_at = null`.execute(db)
    await syncLeased(lease, at.context)
    const { rows } = await sql<{ due: Date | null }>`
      select next_action_at as due from billing.subscriptions`.execute(db)
    assert.deepEqual(rows, [{ due: null }])
  })

  test('a quota that is taken away and given again in one period tells of its limit again', async () => {
    at.clock.now = new Date(Date.now() - 1_000)
    await begun(at, 'sub_1')
    const { id } = await at.state('sub_1')
    const { core } = at.billing
    for (const key of ['one', 'two']) {
      await core.subscriptions.change(id, { quotas: { api: { limit: 10 } } })
      await core.usage.record([{ subscriptionId: id, quota: 'api', units: 10, key }])
      await core.subscriptions.change(id, { quotas: { api: null } })
    }
    const { rows } = await sql`select from billing.deferred_events
      where type = 'UsageLimitReached'`.execute(at.billing.database.db)
    assert.equal(rows.length, 2)
  })

  test('a period that its provider begins early begins a new window at once', async () => {
    await begun(at, 'sub_1')
    const subscription = await at.state('sub_1')
    const { processing, queue } = at.context
    const { database, newId } = processing
    const wanted = { api_calls: { limit: 10n } }
    await database.transaction(({ db }) =>
      giveQuotas(
        db,
        { subscription, wanted, now: at.clock.now },
        { cause: 'operator', newId, queue },
      ),
    )
    at.pass(days(10))
    // Another plan there, which is charged for anew from today.
    const period = monthFrom(at.clock.now)
    at.provider.stated.set('sub_1', statementOf('sub_1', at.clock.now))
    await at.say(renews('sub_1', 'ch_early', { period }), changed('sub_1'))
    await at.run()
    const [shown] = await readUsageOf(database.db, { subscriptionId: subscription.id }, processing)
    assert.deepEqual({ startsAt: shown?.windowStartsAt, endsAt: shown?.windowEndsAt }, period)
    assert.deepEqual(await quotaEvents(database, subscription.id), ['api_calls reset 10'])
  })
})
