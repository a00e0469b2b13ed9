import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { forEachDatabase } from '../support/databases.ts'
import { openRenewing, type Renewing } from './renewing.ts'
import { answers, declined, unanswered } from './subscribing.ts'

forEachDatabase((engine) => {
  describe('a renewal that is declined', () => {
    let at: Renewing
    before(async () => {
      at = await openRenewing(engine)
    })
    after(() => at.billing.close())
    beforeEach(() => at.reset())

    test('case 21: soft declines to the end: five requests, five failures but the last, canceled', async () => {
      const made = await at.renewable()
      answers(at, declined(), declined(), declined(), declined(), declined())
      at.pass(days(31))
      await at.run()
      const { firstFailedAt } = await at.lastPeriod(made)
      assert.ok(firstFailedAt)
      for (const after of [1, 3, 5, 7]) {
        assert.deepEqual(
          (await at.lastPeriod(made)).nextAttemptAt,
          new Date(firstFailedAt.getTime() + days(after)),
        )
        assert.equal((await at.state(made)).status, 'past_due')
        await at.retry(made)
      }
      const state = await at.state(made)
      assert.deepEqual([state.status, state.endReason], ['canceled', 'payment_failed'])
      assert.equal(at.till.asked.length, 5)
      assert.deepEqual(await at.told(made), [
        ...Array.from({ length: 4 }, () => 'SubscriptionPaymentFailed'),
        'SubscriptionCancelled',
      ])
      at.pass(days(60))
      await at.run()
      assert.equal(at.till.asked.length, 5)
    })

    test('case 22: after a hard decline the card is asked for nothing more; another one at once', async () => {
      const made = await at.renewable()
      answers(at, declined('stolen'))
      at.pass(days(31))
      await at.run()
      at.pass(days(2))
      await at.run()
      at.pass(days(3))
      await at.run()
      assert.equal(at.till.asked.length, 1)
      const { needs, nextAttemptAt } = await at.lastPeriod(made)
      assert.deepEqual([needs, nextAttemptAt], ['new_card', null])
      assert.equal((await at.state(made)).status, 'past_due')
      const card = await at.card()
      await at.giveCard(made, card)
      await at.run()
      assert.equal(at.till.asked.length, 2)
      const payments = await at.payments(made)
      assert.equal(payments.at(-1)?.paymentMethodId, card)
      assert.equal((await at.state(made)).status, 'active')
    })

    test('case 22: a hard decline without another card ends it when retries would have', async () => {
      const made = await at.renewable()
      answers(at, declined('stolen'))
      at.pass(days(31))
      await at.run()
      at.pass(days(7) - minutes(1))
      await at.run()
      assert.equal((await at.state(made)).status, 'past_due')
      at.pass(minutes(2))
      await at.run()
      assert.equal((await at.state(made)).endReason, 'payment_failed')
      assert.equal(at.till.asked.length, 1)
    })

    test('case 22: a code that only the poll or callback after it tells keeps the card from retries, too', async () => {
      const made = await at.renewable()
      answers(at, async ({ payment: { id } }) => ({
        outcomes: [{ type: 'payment', payment: { id }, status: 'failed' }],
      }))
      at.pass(days(31))
      await at.run()
      const [, first] = await at.payments(made)
      assert.ok(first)
      assert.equal(first.declineCode, null)
      await at.report({
        type: 'payment',
        payment: { id: first.id },
        status: 'failed',
        declineCode: 'stolen',
      })
      at.pass(days(1) + hours(1))
      await at.run()
      assert.equal(at.till.asked.length, 1)
      assert.equal((await at.lastPeriod(made)).needs, 'new_card')
      assert.deepEqual((await at.told(made))[0], 'SubscriptionPaymentFailed')
      await at.giveCard(made, await at.card())
      await at.run()
      assert.equal((await at.state(made)).status, 'active')
    })

    test('case 23: a card that comes during a retry is charged once the old one is declined', async () => {
      const made = await at.renewable()
      const card = await at.card()
      answers(at, declined(), async (request) => {
        await at.giveCard(made, card)
        assert.equal(at.till.asked.length, 2)
        return declined('stolen')(request)
      })
      at.pass(days(31))
      await at.run()
      await at.retry(made)
      const payments = await at.payments(made)
      assert.deepEqual(
        payments.map(({ status }) => status),
        ['paid', 'failed', 'failed', 'paid'],
      )
      assert.equal(payments.at(-1)?.paymentMethodId, card)
      assert.equal((await at.state(made)).status, 'active')
      assert.equal(at.till.asked.length, 3)
    })

    test('case 23: while the old card’s charge is unknown the new one waits; paid, it is not charged', async () => {
      const made = await at.renewable()
      answers(at, declined(), unanswered)
      at.pass(days(31))
      await at.run()
      await at.retry(made)
      await at.giveCard(made, await at.card())
      at.pass(hours(1))
      await at.run()
      assert.equal(at.till.asked.length, 2)
      const old = (await at.payments(made)).at(-1)
      assert.ok(old)
      await at.report(at.paidOutcome(old))
      at.pass(hours(1))
      await at.run()
      assert.equal(at.till.asked.length, 2)
      assert.equal((await at.state(made)).status, 'active')
    })

    test('case 23: a card that comes in the last retry is charged, though that was the last', async () => {
      const made = await at.renewable()
      const card = await at.card()
      answers(at, declined(), declined(), declined(), declined(), async (request) => {
        await at.giveCard(made, card)
        return declined()(request)
      })
      at.pass(days(31))
      await at.run()
      for (let n = 0; n < 4; n += 1) await at.retry(made)
      assert.equal((await at.state(made)).status, 'active')
      assert.equal(at.till.asked.length, 6)
    })

    test('case 30: a week’s is not tried again beyond its week', async () => {
      const made = await at.renewable({ every: { unit: 'week', count: 1 } })
      answers(at, declined(), declined(), declined(), declined(), declined())
      at.pass(days(7) + minutes(1))
      await at.run()
      for (let n = 0; n < 3; n += 1) await at.retry(made)
      assert.equal(at.till.asked.length, 4)
      assert.equal((await at.state(made)).status, 'canceled')
      const { endsAt, firstFailedAt } = await at.lastPeriod(made)
      assert.ok(firstFailedAt && firstFailedAt.getTime() + days(5) < endsAt.getTime())
    })

    test('case 30: a day’s is over with its first decline', async () => {
      const made = await at.renewable({ every: { unit: 'day', count: 1 } })
      answers(at, declined())
      at.pass(days(1) + minutes(1))
      await at.run()
      assert.equal((await at.state(made)).endReason, 'payment_failed')
      assert.deepEqual(await at.told(made), ['SubscriptionCancelled'])
    })
  })
})
