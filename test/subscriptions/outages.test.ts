import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { listHeldCharges, releaseCharges } from '../../src/database/charge-holds.ts'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import type { MoneyContext } from '../../src/money/context.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import { runDueSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import { refusal } from '../money/scripted.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openRenewing, type Renewing } from './renewing.ts'
import { answers, declined, takesMoney, unanswered } from './subscribing.ts'

const keyExpired = async () => {
  throw refusal()
}

onAnyDatabase((engine) => {
  describe('when something is down, or wrong', () => {
    let at: Renewing
    before(async () => {
      at = await openRenewing(engine)
    })
    after(() => at.billing.close())
    beforeEach(() => at.reset())

    /** The rests of gateways are by the database’s clock. */
    const endRests = () => releaseCharges(at.billing.database.db)

    test('case 15: nobody is charged, ended or postponed while the clock of the database is a year ahead', async () => {
      const made = await at.renewable()
      const pastDue = await at.renewable()
      answers(at, declined())
      const { db } = at.billing.database
      const only = (id: string) =>
        sql`update billing.subscriptions set next_action_at = null where id <> ${id}`.execute(db)
      await only(pastDue.id)
      at.pass(days(31))
      await at.run()
      assert.equal((await at.state(pastDue)).status, 'past_due')
      await sql`update billing.subscriptions set next_action_at = paid_until
        where id = ${made.id}`.execute(db)
      at.till.asked.length = 0
      const before = [await at.state(made), await at.state(pastDue)]
      // Seen from there, our clock is a year behind.
      const context: MoneyContext = {
        ...at.context,
        now: () => new Date(Date.now() - days(365)),
      }
      const { now } = at.clock
      at.pass(days(365))
      await runDueSubscriptions(context, { lanes: 4 })
      assert.deepEqual(at.till.asked, [])
      assert.deepEqual([await at.state(made), await at.state(pastDue)], before)
      at.clock.now = now
      await at.run()
      assert.equal(at.till.asked.length, 1)
      assert.equal((await at.state(made)).status, 'active')
      at.pass(days(1) + minutes(1))
      await at.run()
      assert.equal(at.till.asked.length, 2)
      assert.equal((await at.state(pastDue)).status, 'active')
    })

    test('case 17: with an expired key nobody is past due, and the gateway rests for an hour', async () => {
      const all = await Promise.all(Array.from({ length: 5 }, () => at.renewable()))
      at.till.asked.length = 0
      answers(at, ...Array.from({ length: 20 }, () => keyExpired))
      at.pass(days(31))
      // One after the other: those under way at the same time are asked for, too.
      await runDueSubscriptions(at.context, { lanes: 1 })
      assert.equal(at.till.asked.length, 3)
      for (const one of all) {
        const { status, suspendedAt } = await at.state(one)
        assert.deepEqual([status, suspendedAt], ['active', null])
        assert.deepEqual(await at.events(one), ['SubscriptionRenewed'])
      }
      const [held] = await listHeldCharges(at.billing.database.db)
      assert.equal(held?.gateway, 'scripted')
      at.pass(minutes(50))
      await at.run()
      assert.equal(at.till.asked.length, 3)
      await endRests()
      takesMoney(at.script, at.till)
      at.pass(minutes(20))
      await at.run()
      for (const one of all) {
        const { status, actionError } = await at.state(one)
        assert.deepEqual([status, actionError], ['active', null])
        assert.equal((await at.periods(one))[1]?.state, 'paid')
        assert.equal((await at.periods(one))[1]?.declines, 0)
      }
    })

    test('case 17: a process that dies once its last retry was refused does not end the subscription', async () => {
      const made = await at.renewable()
      answers(at, declined(), unanswered)
      at.pass(days(31))
      await at.run()
      at.pass(days(8))
      await at.run()
      const [, , asked] = await at.payments(made)
      assert.ok(asked)
      // What is left of it, had the provider refused our key and the process died at that moment.
      await sql`update billing.payments set checkout = 'refused', operation_error = 'key'
        where id = ${asked.id}`.execute(at.billing.database.db)
      at.pass(days(2))
      await at.run()
      assert.equal((await at.state(made)).status, 'past_due')
      await sql`update billing.payments set handed_at = handed_at - interval '2 hours'
        where id = ${asked.id}`.execute(at.billing.database.db)
      await pollPayment(asked.id, at.context)
      takesMoney(at.script, at.till)
      await endRests()
      at.pass(hours(2))
      await at.run()
      assert.deepEqual((await at.statuses(made)).slice(0, 3), ['paid', 'failed', 'canceled'])
      assert.equal((await at.state(made)).status, 'active')
    })

    test('case 18: a provider that is down is asked three times, and nobody is past due', async () => {
      const all = await Promise.all(Array.from({ length: 6 }, () => at.renewable()))
      answers(at, ...Array.from({ length: 20 }, () => unanswered))
      at.pass(days(31))
      await runDueSubscriptions(at.context, { lanes: 1 })
      assert.equal(at.till.asked.length, 3)
      const [held] = await listHeldCharges(at.billing.database.db)
      assert.equal(held?.gateway, 'scripted')
      for (const one of all) assert.equal((await at.state(one)).status, 'active')
      // What was not answered is not asked for again; the others are once it has rested.
      await endRests()
      takesMoney(at.script, at.till)
      at.pass(minutes(16))
      await at.run()
      assert.equal(at.till.asked.length, 6)
      assert.equal(new Set(at.till.asked).size, 6)
      const ended = await Promise.all(all.map((one) => at.statuses(one)))
      const count = (status: string) => ended.filter(([, last]) => last === status).length
      assert.deepEqual([count('pending'), count('paid')], [3, 3])
    })

    test('case 18: two that are not answered are no reason to rest', async () => {
      const all = await Promise.all(Array.from({ length: 3 }, () => at.renewable()))
      const down = async () => {
        throw new QuittanceError('provider_unreachable', 'down')
      }
      answers(at, down, down)
      at.pass(days(31))
      await runDueSubscriptions(at.context, { lanes: 1 })
      // Two of three: it goes on.
      assert.deepEqual(await listHeldCharges(at.billing.database.db), [])
      assert.equal(at.till.asked.length, all.length)
    })
  })
})
