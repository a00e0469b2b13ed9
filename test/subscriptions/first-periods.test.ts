import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { decideSubscription } from '../../src/money/decide-subscription.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { cancelSubscription } from '../../src/subscriptions/cancel-subscription.ts'
import { payPeriod } from '../../src/subscriptions/pay-period.ts'
import { forEachDatabase } from '../support/databases.ts'
import { openRenewing, type Renewing } from './renewing.ts'

forEachDatabase((engine) => {
  describe('the first period', () => {
    let at: Renewing
    before(async () => {
      at = await openRenewing(engine)
    })
    after(() => at.billing.close())
    beforeEach(() => at.reset())

    const inTrial = async (fields: { paymentMethodId?: string } = {}) => {
      const trialEndsAt = new Date(at.clock.now.getTime() + days(14))
      const { subscription } = await at.subscribe({ trialEndsAt, ...fields })
      assert.equal(subscription.status, 'trialing')
      return { ...subscription, trialEndsAt }
    }
    const cancel = (id: string, when: 'period_end' | 'now') =>
      decideSubscription(
        id,
        (state, moment) => cancelSubscription(state, { at: when }, moment),
        at.context,
      )
    const openPage = async (id: string): Promise<Payment> => {
      const decided = await decideSubscription(id, payPeriod, at.context)
      assert.ok(decided.kind === 'changed' && decided.payment !== null)
      return decided.payment
    }
    const pay = (payment: Payment) => at.report(at.paidOutcome(payment))

    test('case 33: a trial that is canceled ends at its end, and its card is charged nothing', async () => {
      const trial = await inTrial({ paymentMethodId: await at.card() })
      await cancel(trial.id, 'period_end')
      assert.equal((await at.state(trial)).status, 'trialing')
      at.pass(days(14) + minutes(1))
      await at.run()
      const { status, endReason } = await at.state(trial)
      assert.deepEqual([status, endReason], ['canceled', 'requested'])
      assert.deepEqual(at.till.asked, [])
      assert.deepEqual((await at.events(trial)).slice(-2), ['TrialEnded', 'SubscriptionCancelled'])
    })

    test('case 33: canceled now, it ends now', async () => {
      const trial = await inTrial({ paymentMethodId: await at.card() })
      await cancel(trial.id, 'now')
      assert.equal((await at.state(trial)).status, 'canceled')
      at.pass(days(15))
      await at.run()
      assert.deepEqual(at.till.asked, [])
    })

    test('case 34: paid in the trial, the first period begins at its end and is not charged again', async () => {
      const trial = await inTrial()
      await pay(await openPage(trial.id))
      const [, first] = await at.periods(trial)
      assert.deepEqual([first?.state, first?.startsAt], ['paid', trial.trialEndsAt])
      at.pass(days(15))
      await at.run()
      assert.deepEqual(at.till.asked, [])
      assert.equal((await at.state(trial)).status, 'active')
    })

    test('case 34: a page of the trial that is paid after its end pays the first period', async () => {
      const trial = await inTrial({ paymentMethodId: await at.card() })
      at.pass(days(14) - minutes(10))
      const page = await openPage(trial.id)
      at.pass(minutes(20))
      await at.run()
      assert.deepEqual(at.till.asked, [])
      await pay(page)
      await at.run()
      const { status, paidUntil } = await at.state(trial)
      const [, first] = await at.periods(trial)
      assert.deepEqual([status, paidUntil], ['active', first?.endsAt])
      assert.deepEqual(at.till.asked, [])
    })

    test('case 37: what is paid in the last minute counts, from then on', async () => {
      const { subscription, payment } = await at.subscribe()
      assert.ok(payment)
      at.pass(hours(24) - minutes(1))
      await at.run()
      await pay(payment)
      at.pass(minutes(2))
      await at.run()
      const { status } = await at.state(subscription)
      const [first] = await at.periods(subscription)
      assert.equal(status, 'active')
      assert.equal(first?.startsAt.getTime(), at.clock.now.getTime() - minutes(2))
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
      await pay(payment)
      assert.deepEqual((await at.reviews()).slice(-1), ['period_void'])
      assert.equal((await at.state(subscription)).status, 'canceled')
    })

    test('case 38: what costs nothing is granted at once and renewed, without a payment or a card', async () => {
      const { subscription, payment } = await at.subscribe({ amount: 0n })
      assert.deepEqual([subscription.status, payment], ['active', null])
      at.pass(days(32))
      await at.run()
      assert.deepEqual(await at.statuses(subscription), [])
      const periods = await at.periods(subscription)
      assert.deepEqual(
        periods.map(({ state, paidPaymentId }) => [state, paidPaymentId]),
        [
          ['paid', null],
          ['paid', null],
        ],
      )
      const renewals = (await at.events(subscription)).filter((one) => one.endsWith('Renewed'))
      assert.equal(renewals.length, 2)
    })
  })
})
