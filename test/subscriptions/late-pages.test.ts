import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { closeForgottenPages } from '../../src/money/close-page.ts'
import { decideSubscription } from '../../src/money/decide-subscription.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { payPeriod } from '../../src/subscriptions/pay-period.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { paid } from '../support/statements.ts'
import { openRenewing, type Renewing } from './renewing.ts'
import { answers, declined, takesMoney } from './subscribing.ts'

onAnyDatabase((engine) => {
  describe('a page that is paid when nobody thought so', () => {
    let at: Renewing
    before(async () => {
      at = await openRenewing(engine)
    })
    after(() => at.billing.close())
    beforeEach(async () => {
      await at.reset()
      await sql`delete from billing.reviews`.execute(at.billing.database.db)
    })

    const pastDue = async () => {
      const made = await at.renewable()
      answers(at, declined())
      at.pass(days(31))
      await at.run()
      takesMoney(at.script, at.till)
      assert.equal((await at.state(made)).status, 'past_due')
      return made
    }
    const openPage = async (of: { readonly id: string }): Promise<Payment> => {
      const decided = await decideSubscription(of.id, payPeriod, at.context)
      assert.ok(decided.kind === 'changed' && decided.payment !== null)
      return decided.payment
    }
    const callback = (payment: Payment) => at.billing.sayBy('scripted', paid(payment))

    test('case 24: the card was charged after it had been closed: a person looks at the second money', async () => {
      const made = await pastDue()
      const page = await openPage(made)
      at.script.closeCheckout = async () => 'closed'
      at.pass(days(1) + minutes(1))
      await at.run()
      at.pass(minutes(16))
      await at.run()
      const renewed = await at.state(made)
      assert.equal(renewed.status, 'active')
      await callback(page)
      await callback(page)
      assert.deepEqual(await at.reviews(), ['period_paid_twice'])
      assert.deepEqual((await at.state(made)).paidUntil, renewed.paidUntil)
      assert.equal((await at.told(made)).filter((type) => type === 'SubscriptionRenewed').length, 1)
    })

    test('case 25: the old attempt is paid while it is open: granted for that, and the page is closed', async () => {
      const made = await pastDue()
      const page = await openPage(made)
      const old = (await at.payments(made)).find(({ status }) => status === 'failed')
      assert.ok(old)
      await callback(old)
      assert.equal((await at.state(made)).status, 'active')
      assert.equal((await at.lastPeriod(made)).paidPaymentId, old.id)
      at.script.closeCheckout = async () => 'closed'
      await closeForgottenPages(at.context)
      const closed = await at.billing.details(page)
      assert.deepEqual([closed.status, closed.checkout], ['canceled', 'closed'])
      assert.deepEqual(await at.reviews(), [])
      await callback(page)
      assert.deepEqual(await at.reviews(), ['period_paid_twice'])
      at.till.asked.length = 0
      at.pass(hours(2))
      await at.run()
      assert.deepEqual(at.till.asked, [])
    })

    test('of subscriptions that are each paid twice by one report, every second payment is seen', async () => {
      // Payments are taken in the order of their ids: with five, those of some stand between others.
      const all = await Promise.all(Array.from({ length: 5 }, () => at.renewable()))
      answers(at, ...all.map(() => declined()))
      at.pass(days(31))
      await at.run()
      for (const made of all) await openPage(made)
      const both = await Promise.all(all.map(async (made) => (await at.payments(made)).slice(1)))
      await at.report(...both.flat().map((payment) => at.paidOutcome(payment)))
      for (const [index, made] of all.entries()) {
        const [first] = both[index]?.map(({ id }) => id).toSorted() ?? []
        assert.equal((await at.lastPeriod(made)).paidPaymentId, first)
      }
      assert.deepEqual(await at.reviews(), Array(5).fill('period_paid_twice'))
    })

    test('case 24: paid at the very moment of the retry, one of both grants it, and no money is lost sight of', async () => {
      for (let round = 0; round < 5; round += 1) {
        await at.reset()
        const made = await pastDue()
        const page = await openPage(made)
        at.script.closeCheckout = async () => 'closed'
        at.pass(days(1) + minutes(1))
        await sql`delete from billing.reviews`.execute(at.billing.database.db)
        await Promise.all([at.run(), callback(page)])
        at.pass(minutes(16))
        await at.run()
        const state = await at.state(made)
        assert.equal(state.status, 'active')
        const money = (await at.statuses(made)).filter((status) => status === 'paid').length
        // The first period, and this one.
        assert.equal((await at.reviews()).length, money - 2)
        const types = await at.told(made)
        assert.equal(types.filter((type) => type === 'SubscriptionRenewed').length, 1)
      }
    })

    test('a dispute about a period’s payment changes no subscription', async () => {
      const made = await at.renewable()
      const before = await at.state(made)
      const [first] = await at.payments(made)
      assert.ok(first)
      await at.billing.sayBy('scripted', {
        type: 'dispute',
        payment: { id: first.id },
        reference: `dp_${first.id}`,
        status: 'lost',
        amount: first.amount,
        currency: first.currency,
      })
      assert.deepEqual(await at.state(made), before)
      at.pass(days(31))
      await at.run()
      assert.equal((await at.state(made)).status, 'active')
    })

    test('case 34: a page of the trial that is paid after its end pays the first period', async () => {
      const trialEndsAt = new Date(at.clock.now.getTime() + days(14))
      const paymentMethodId = await at.card()
      const { subscription: trial } = await at.subscribe({ trialEndsAt, paymentMethodId })
      assert.equal(trial.status, 'trialing')
      at.pass(days(14) - minutes(10))
      const page = await openPage(trial)
      at.pass(minutes(20))
      await at.run()
      assert.deepEqual(at.till.asked, [])
      await at.report(at.paidOutcome(page))
      await at.run()
      const { status, paidUntil } = await at.state(trial)
      const [, first] = await at.periods(trial)
      assert.deepEqual([status, paidUntil], ['active', first?.endsAt])
      assert.deepEqual(at.till.asked, [])
    })

    test('case 37: after the last minute it has ended, and money is shown to a person', async () => {
      const { subscription, payment } = await at.subscribe()
      assert.ok(payment)
      at.script.closeCheckout = async () => 'closed'
      at.pass(hours(24) + minutes(1))
      await at.run()
      at.pass(hours(1))
      await at.run()
      const { status, endReason } = await at.state(subscription)
      assert.deepEqual([status, endReason], ['canceled', 'incomplete'])
      await at.report(at.paidOutcome(payment))
      assert.deepEqual((await at.reviews()).slice(-1), ['period_void'])
      assert.equal((await at.state(subscription)).status, 'canceled')
    })
  })
})
