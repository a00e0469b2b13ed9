import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { days, hours } from '../../src/kernel/duration.ts'
import { forEachDatabase } from '../support/databases.ts'
import { begins, begun, monthFrom, openManaging, renews, rings, statementOf } from './managing.ts'

/** What a merchant sells at the provider. */
const sold = {
  gateway: 'managing',
  managedBy: 'provider',
  amount: 4_999,
  currency: 'USD',
  every: 'month',
  payable: { type: 'account', id: '7' },
} as const

forEachDatabase((engine) => {
  const open = async (t: TestContext) => {
    const at = await openManaging(engine)
    t.after(() => at.billing.close())
    return at
  }

  for (const isBellFirst of [false, true]) {
    const order = isBellFirst ? 'after' : 'before'
    test(`the first charge after a trial is granted, its checkout reported ${order} the bell`, async (t) => {
      const at = await open(t)
      const trialEndsAt = new Date(Math.ceil(Date.now() / days(1)) * days(1) + days(14))
      const { payment } = await at.billing.core.subscriptions.create({ ...sold, trialEndsAt })
      assert.ok(payment)
      const startsAt = new Date()
      const trial = { startsAt, endsAt: trialEndsAt }
      const trialing = { status: 'trialing', trialEndsAt, currentPeriod: trial } as const
      at.provider.stated.set('sub_1', statementOf('sub_1', startsAt, trialing))
      const checkout = begins(payment, 'sub_1', { amount: 0n, period: trial })
      if (isBellFirst) {
        await at.say(rings('sub_1', payment))
        await at.run()
        await at.say(checkout)
      } else {
        await at.say(checkout, rings('sub_1', payment))
      }
      await at.run()
      const [given] = await at.periods('sub_1')
      assert.deepEqual([given?.kind, given?.state, given?.endsAt], ['trial', 'free', trialEndsAt])
      assert.equal((await at.state('sub_1')).paidUntil, null)

      at.pass(trialEndsAt.getTime() - at.clock.now.getTime() + hours(1))
      at.provider.stated.set('sub_1', statementOf('sub_1', trialEndsAt, { trialEndsAt }))
      const first = monthFrom(trialEndsAt)
      await at.say(renews('sub_1', 'ch_1', { period: first }), rings('sub_1'))
      await at.run()
      assert.deepEqual((await at.state('sub_1')).paidUntil, first.endsAt)
      assert.notEqual((await at.payment('ch_1')).periodId, null)
    })
  }

  test('money of another subscription that names the same payment grants nothing of the first', async (t) => {
    const at = await open(t)
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

  test('one that has not begun here is not linked to another than its payment began', async (t) => {
    const at = await open(t)
    const { db } = at.billing.database
    const { payment } = await at.billing.core.subscriptions.create(sold)
    assert.ok(payment)
    // An older version has applied the report that it is paid.
    await sql`update billing.payments set status = 'paid', subscription_reference = 'sub_mine'
      where id = ${payment.id}::uuid`.execute(db)
    assert.deepEqual(await at.say(rings('sub_other', payment)), ['subscription_mismatch'])
    assert.equal(await at.find('sub_other'), undefined)
  })

  test('a payment that another subscription has named is shown to a person once it is paid', async (t) => {
    const at = await open(t)
    const payment = await at.create()
    at.provider.stated.set(
      'sub_try',
      statementOf('sub_try', at.clock.now, { status: 'incomplete' }),
    )
    await at.say(rings('sub_try', payment))
    await at.run()
    at.provider.stated.set('sub_own', statementOf('sub_own', at.clock.now))
    const paid = begins(payment, 'sub_own', { period: monthFrom(at.clock.now) })
    await at.say(paid, rings('sub_own', payment))
    await at.run()
    assert.ok((await at.reviews()).includes('another_subscription'))
    assert.equal(await at.find('sub_own'), undefined)
  })

  test('a statement that cannot be written is shown, and keeps no others waiting', async (t) => {
    const at = await open(t)
    await begun(at, 'sub_1')
    // The database knows no such length.
    const every = { unit: 'day', count: 1_095 } as const
    at.provider.stated.set('sub_1', statementOf('sub_1', at.clock.now, { every }))
    await at.say(rings('sub_1'))
    await at.run()
    const { actionError, nextActionAt } = await at.state('sub_1')
    assert.notEqual(actionError, null)
    assert.ok(nextActionAt !== null && nextActionAt > at.clock.now)
  })
})
