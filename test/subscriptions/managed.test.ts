import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { days, hours } from '../../src/kernel/duration.ts'
import { requeueCallsWithPayment } from '../../src/outcomes/waiting-calls.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { until } from '../support/until.ts'
import {
  begins,
  begun,
  monthFrom,
  openManaging,
  renews,
  changed,
  statementOf,
  told,
  type Managing,
} from './managing.ts'

onAnyDatabase((engine) => {
  let at: Managing
  before(async () => {
    at = await openManaging(engine)
  })
  after(() => at.billing.close())
  beforeEach(() => at.reset())

  test('a subscription that its provider manages is linked by its first payment and granted by it', async () => {
    const start = at.clock.now
    const payment = await begun(at, 'sub_1')
    const state = await at.state('sub_1')
    assert.equal(state.status, 'active')
    assert.equal(state.managedBy, 'provider')
    assert.deepEqual(state.paidUntil, monthFrom(start).endsAt)
    assert.deepEqual(await at.events('sub_1'), ['SubscriptionCreated', 'SubscriptionRenewed'])
    const [period] = await at.periods('sub_1')
    assert.equal(period?.paidPaymentId, payment.id)
    assert.equal(period?.number, 1)
    assert.deepEqual(await at.reviews(), [])
    const created = await told(at, 'SubscriptionCreated')
    assert.equal(created.dedupKey, `subscription:created:${state.id}`)
    assert.equal(created.subscription.access, true)
  })

  test('a renewal is bound to its period and grants it (cases 40 and 44)', async () => {
    await begun(at, 'sub_1')
    const { endsAt } = monthFrom(at.clock.now)
    at.pass(endsAt.getTime() - at.clock.now.getTime())
    const second = monthFrom(endsAt)
    at.provider.stated.set('sub_1', statementOf('sub_1', endsAt))
    assert.deepEqual(await at.say(renews('sub_1', 'ch_2', { period: second })), ['payment:paid'])
    const state = await at.state('sub_1')
    assert.deepEqual(state.paidUntil, second.endsAt)
    const renewal = await at.payment('ch_2')
    assert.equal(renewal.periodId, (await at.periods('sub_1'))[1]?.id)
    await at.run()
    // A lost renewal: no callback at all, but the provider lists it.
    at.pass(second.endsAt.getTime() - at.clock.now.getTime() + hours(1))
    const third = monthFrom(second.endsAt)
    at.provider.stated.set('sub_1', statementOf('sub_1', second.endsAt))
    at.provider.charged.set('sub_1', [renews('sub_1', 'ch_3', { period: third })])
    assert.ok((await at.run()) > 0, 'an hour after the boundary it is asked for')
    assert.deepEqual((await at.state('sub_1')).paidUntil, third.endsAt)
    assert.deepEqual(await at.events('sub_1'), [
      'SubscriptionCreated',
      'SubscriptionRenewed',
      'SubscriptionRenewed',
      'SubscriptionRenewed',
    ])
    assert.deepEqual(await at.reviews(), [])
  })

  test('a renewal that credit has paid for is granted, and shown to a person', async () => {
    await begun(at, 'sub_1')
    const { endsAt } = monthFrom(at.clock.now)
    at.pass(endsAt.getTime() - at.clock.now.getTime())
    const second = monthFrom(endsAt)
    at.provider.stated.set('sub_1', statementOf('sub_1', endsAt))
    await at.say(renews('sub_1', 'ch_2', { period: second, amount: 0n }))
    await at.run()
    assert.deepEqual((await at.state('sub_1')).paidUntil, second.endsAt)
    assert.equal((await at.events('sub_1')).at(-1), 'SubscriptionRenewed')
    assert.equal((await at.reviews()).length, 1)
  })

  test('a period that is stated before its decline is not renewed (case 41)', async (t) => {
    const at = await openManaging(engine, { policy: { graceAccess: false } })
    t.after(() => at.billing.close())
    await begun(at, 'sub_1')
    const { endsAt } = monthFrom(at.clock.now)
    at.pass(endsAt.getTime() - at.clock.now.getTime())
    at.provider.stated.set('sub_1', statementOf('sub_1', endsAt))
    await at.say(changed('sub_1'))
    await at.run()
    const stated = await at.state('sub_1')
    assert.deepEqual([stated.status, stated.paidUntil], ['active', endsAt])
    assert.equal((await at.events('sub_1')).length, 2)
    const nextAttemptAt = new Date(at.clock.now.getTime() + days(3))
    const failure = { attempt: 1, nextAttemptAt, needs: 'nothing' } as const
    at.provider.stated.set('sub_1', statementOf('sub_1', endsAt, { status: 'past_due', failure }))
    await at.say(changed('sub_1'))
    await at.run()
    const failed = await at.state('sub_1')
    assert.deepEqual([failed.status, failed.paidUntil], ['past_due', endsAt])
    assert.ok(failed.suspendedAt !== null)
    assert.deepEqual((await at.events('sub_1')).slice(2), [
      'SubscriptionPaymentFailed',
      'SubscriptionAccessSuspended',
    ])
    // Another try fails: nothing more is told.
    at.provider.stated.set(
      'sub_1',
      statementOf('sub_1', endsAt, { status: 'past_due', failure: { ...failure, attempt: 2 } }),
    )
    await at.say(changed('sub_1'))
    await at.run()
    assert.equal((await at.events('sub_1')).length, 4)
    assert.equal((await at.periods('sub_1'))[1]?.declines, 2)
    // The payment comes, and the provider lags behind.
    await at.say(renews('sub_1', 'ch_2', { period: monthFrom(endsAt) }))
    await at.run()
    const paid = await at.state('sub_1')
    assert.deepEqual([paid.status, paid.suspendedAt], ['active', null])
    assert.equal((await at.events('sub_1')).at(-1), 'SubscriptionRenewed')
    assert.equal((await told(at, 'SubscriptionRenewed', 2)).previousStatus, 'past_due')
    const again = paid.nextActionAt?.getTime() ?? 0
    assert.ok(again - at.clock.now.getTime() <= hours(1), 'it is asked again soon')
  })

  test('what was paid before its subscription was known is granted by the sync (case 45)', async () => {
    const { db } = at.billing.database
    const payment = await begun(at, 'sub_1')
    const { id } = await at.state('sub_1')
    await sql`update billing.payments set period_id = null`.execute(db)
    for (const table of ['subscription_periods', 'subscription_transitions', 'deferred_events']) {
      await sql`delete from ${sql.table(`billing.${table}`)} where subscription_id = ${id}`.execute(
        db,
      )
    }
    await sql`delete from billing.subscriptions where id = ${id}::uuid`.execute(db)
    assert.equal(await at.find('sub_1'), undefined)
    assert.deepEqual(await at.say(changed('sub_1')), ['applied'])
    await at.run()
    const state = await at.state('sub_1')
    assert.equal(state.status, 'active')
    assert.equal((await at.periods('sub_1'))[0]?.paidPaymentId, payment.id)
    assert.deepEqual(await at.events('sub_1'), ['SubscriptionCreated', 'SubscriptionRenewed'])
  })

  test("a stranger's subscription makes no row and waits (case 46)", async () => {
    assert.deepEqual(await at.say(changed('sub_other')), ['unknown_payment'])
    assert.equal(await at.find('sub_other'), undefined)
    const call = await at.billing.sayBy('managing', { type: 'subscription', reference: 'sub_mine' })
    assert.equal(call.state, 'ignored')
    assert.deepEqual(at.billing.resultsOf(call), ['unknown_payment'])
    const payment = await at.create()
    await at.say(begins(payment, 'sub_mine'))
    // The call that has waited is found by the sweep, and asks then.
    const { db } = at.billing.database
    assert.deepEqual(await requeueCallsWithPayment(db), [call.id])
    await until(async () => (await at.billing.core.calls.get(call.id))?.state === 'processed', {
      what: 'the call that has waited',
    })
    assert.ok(await at.find('sub_mine'))
    assert.deepEqual(await at.reviews(), [])
  })

  test('a dear payment never gets a cheap subscription (case 47)', async () => {
    const dear = await at.create({ amount: 99_900 })
    const cheap = { amount: 100n }
    // Only its name ties it to the payment, and it is sold for other money.
    at.provider.stated.set('sub_cheap', statementOf('sub_cheap', at.clock.now, cheap))
    assert.deepEqual(await at.say(changed('sub_cheap', dear)), ['applied'])
    await at.run()
    const state = await at.state('sub_cheap')
    assert.deepEqual([state.status, state.amount], ['incomplete', 99_900n])
    assert.deepEqual(await at.events('sub_cheap'), [])
    assert.deepEqual(await at.reviews(), ['terms_mismatch'])
    // Said again, it is believed no more.
    await at.say(changed('sub_cheap', dear))
    await at.run()
    assert.equal((await at.state('sub_cheap')).amount, 99_900n)
    // A payment that has begun one begins no other.
    const paid = await at.create({ amount: 99_900, payable: { type: 'order', id: '9' } })
    const dearly = { amount: 99_900n }
    at.provider.stated.set('sub_dear', statementOf('sub_dear', at.clock.now, dearly))
    await at.say(begins(paid, 'sub_dear', { period: monthFrom(at.clock.now) }))
    await at.run()
    assert.equal((await at.state('sub_dear')).status, 'active')
    assert.deepEqual(await at.say(changed('sub_other', paid)), ['subscription_mismatch'])
    assert.equal(await at.find('sub_other'), undefined)
    // Nor does the money of a cheap one pay for the dear one unseen.
    const second = monthFrom(monthFrom(at.clock.now).endsAt)
    const results = await at.say(renews('sub_dear', 'ch_cheap', { amount: 100n, period: second }))
    assert.deepEqual(results, ['renewal_money_differs'])
  })

  for (const amount of [5_999n, 100n]) {
    test(`a renewal at ${amount} is compared with what its merchant sells it for by now`, async () => {
      await begun(at, 'sub_1')
      const period = monthFrom(monthFrom(at.clock.now).endsAt)
      at.provider.stated.set('sub_1', statementOf('sub_1', at.clock.now, { amount }))
      await at.say(changed('sub_1'))
      await at.run()
      assert.equal((await at.state('sub_1')).amount, amount)
      assert.deepEqual(await at.say(renews('sub_1', 'ch_2', { amount, period })), ['payment:paid'])
      const [old] = await at.say(renews('sub_1', 'ch_3', { period: monthFrom(period.endsAt) }))
      assert.equal(old, 'renewal_money_differs')
    })
  }

  test('what does not hold is logged, and asked again within the hour', async () => {
    const { lines } = at.billing
    const earlier = lines.length
    await begun(at, 'sub_1')
    at.provider.stated.set('sub_1', statementOf('sub_1', at.clock.now, { status: 'past_due' }))
    await at.say(changed('sub_1'))
    await at.run()
    const said = lines.slice(earlier).filter(({ msg }) => String(msg).includes('does not hold'))
    assert.deepEqual(
      said.map(({ reason, level }) => [reason, level]),
      [['period_paid', 40]],
    )
    const { status, nextActionAt } = await at.state('sub_1')
    assert.deepEqual(
      [status, nextActionAt],
      ['active', new Date(at.clock.now.getTime() + hours(1))],
    )
  })

  test('canceled, resumed and canceled at once it is ended once (case 48)', async () => {
    const start = at.clock.now
    await begun(at, 'sub_1')
    const { endsAt } = monthFrom(start)
    const ring = async () => {
      await at.say(changed('sub_1'))
      await at.run()
    }
    at.provider.stated.set('sub_1', statementOf('sub_1', start, { cancelAt: endsAt }))
    await ring()
    assert.deepEqual((await at.state('sub_1')).cancelAt, endsAt)
    at.provider.stated.set('sub_1', statementOf('sub_1', start))
    await ring()
    assert.equal((await at.state('sub_1')).cancelAt, null)
    const endedAt = new Date(at.clock.now.getTime() - 1_000)
    at.provider.stated.set('sub_1', statementOf('sub_1', start, { status: 'canceled', endedAt }))
    await ring()
    const ended = await at.state('sub_1')
    assert.deepEqual([ended.status, ended.endReason], ['canceled', 'provider'])
    assert.deepEqual(ended.endedAt, endedAt)
    assert.equal(ended.nextActionAt, null)
    // Out of date, or a mistake of the provider's: what is over stays so.
    at.provider.stated.set('sub_1', statementOf('sub_1', start))
    assert.deepEqual(await at.say(changed('sub_1')), ['already_settled'])
    assert.equal(await at.run(), 0)
    assert.deepEqual((await at.events('sub_1')).slice(2), ['SubscriptionCancelled'])
    // Its money has bought nothing.
    const late = monthFrom(endsAt)
    await at.say(renews('sub_1', 'ch_late', { period: late }))
    assert.deepEqual(await at.reviews(), ['period_void'])
    assert.equal((await at.state('sub_1')).status, 'canceled')
  })

  test('a pause, the end of one, and a provider that has given up are taken over', async () => {
    const start = at.clock.now
    await begun(at, 'sub_1')
    const { endsAt } = monthFrom(start)
    const stand = async (...given: Parameters<typeof statementOf>) => {
      at.provider.stated.set('sub_1', statementOf(...given))
      await at.say(changed('sub_1'))
      await at.run()
      return at.state('sub_1')
    }
    const none = { currentPeriod: null }
    assert.equal((await stand('sub_1', start, { status: 'paused', ...none })).status, 'paused')
    assert.equal((await stand('sub_1', start)).status, 'active')
    const givenUp = { status: 'past_due', hasGivenUp: true } as const
    assert.equal((await stand('sub_1', endsAt, givenUp)).status, 'paused')
    assert.equal((await told(at, 'SubscriptionPaused', 2)).subscription.access, false)
    assert.deepEqual((await at.events('sub_1')).slice(2), [
      'SubscriptionPaused',
      'SubscriptionResumed',
      'SubscriptionPaused',
    ])
    // It is paid after all: the provider's word ends the pause.
    await at.say(renews('sub_1', 'ch_2', { period: monthFrom(endsAt) }))
    assert.equal((await stand('sub_1', endsAt)).status, 'active')
    assert.deepEqual((await at.events('sub_1')).slice(5), [
      'SubscriptionRenewed',
      'SubscriptionResumed',
    ])
    assert.deepEqual((await at.state('sub_1')).paidUntil, monthFrom(endsAt).endsAt)
  })

  test('a trial is linked, announced and ended, and its first payment renews it', async () => {
    const payment = await at.create()
    const start = at.clock.now
    const trialEndsAt = new Date(start.getTime() + days(14))
    const trial = { status: 'trialing', trialEndsAt } as const
    const currentPeriod = { startsAt: start, endsAt: trialEndsAt }
    at.provider.stated.set('sub_1', statementOf('sub_1', start, { ...trial, currentPeriod }))
    await at.say(changed('sub_1', payment))
    await at.run()
    assert.equal((await at.state('sub_1')).status, 'trialing')
    assert.deepEqual(await at.events('sub_1'), ['SubscriptionCreated'])
    at.pass(days(11))
    await at.run()
    assert.deepEqual((await at.events('sub_1')).slice(1), ['TrialWillEnd'])
    at.pass(days(3))
    at.provider.stated.set('sub_1', statementOf('sub_1', trialEndsAt, { trialEndsAt }))
    await at.say(changed('sub_1'))
    await at.run()
    assert.equal((await at.state('sub_1')).status, 'trialing')
    const period = monthFrom(trialEndsAt)
    assert.deepEqual(await at.say(renews('sub_1', 'ch_1', { period })), ['first_payment_unpaid'])
    const state = await at.state('sub_1')
    assert.deepEqual([state.status, state.paidUntil], ['active', period.endsAt])
    assert.deepEqual((await at.events('sub_1')).slice(2), ['TrialEnded', 'SubscriptionRenewed'])
    assert.equal((await told(at, 'SubscriptionRenewed')).previousStatus, 'trialing')
    at.pass(period.endsAt.getTime() - at.clock.now.getTime() - days(3))
    at.provider.stated.set('sub_1', statementOf('sub_1', trialEndsAt, { trialEndsAt }))
    await at.run()
    assert.equal((await at.events('sub_1')).at(-1), 'SubscriptionPeriodEnding')
  })

  test('a charge that states no time pays for the earliest unpaid period', async () => {
    const payment = await at.create()
    const start = at.clock.now
    at.provider.stated.set('sub_1', statementOf('sub_1', start))
    const first = begins(payment, 'sub_1')
    at.provider.charged.set('sub_1', [first])
    await at.say(first, changed('sub_1', payment))
    await at.run()
    assert.equal((await at.state('sub_1')).status, 'active')
    const { endsAt } = monthFrom(start)
    at.provider.stated.set('sub_1', statementOf('sub_1', endsAt))
    at.provider.charged.set('sub_1', [])
    await at.say(changed('sub_1'))
    await at.run()
    assert.deepEqual(await at.say(renews('sub_1', 'ch_2', { chargedAt: endsAt })), ['payment:paid'])
    assert.deepEqual((await at.state('sub_1')).paidUntil, monthFrom(endsAt).endsAt)
  })
})
