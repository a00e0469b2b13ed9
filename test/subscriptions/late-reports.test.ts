import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { days, hours } from '../../src/kernel/duration.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import { runDueSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import { age } from '../money/scripted.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openRenewing, type Renewing } from './renewing.ts'
import { answers, declined, unanswered } from './subscribing.ts'

onAnyDatabase((engine) => {
  describe('what comes late, or in between, of a renewal and its card', () => {
    let at: Renewing
    before(async () => {
      at = await openRenewing(engine)
    })
    after(() => at.billing.close())
    beforeEach(() => at.reset())

    test('case 31: a card that its provider says is detached is charged no more', async () => {
      const made = await at.renewable()
      answers(at, declined())
      at.pass(days(31))
      await at.run()
      await at.report({
        type: 'payment_method',
        status: 'detached',
        reference: `pm_${made.paymentMethodId}`,
      })
      await at.retry(made)
      assert.equal(at.till.asked.length, 1)
      assert.equal((await at.lastPeriod(made)).needs, 'new_card')
      assert.deepEqual(await at.told(made), [
        'SubscriptionPaymentFailed',
        'SubscriptionPaymentFailed',
      ])
      at.pass(days(7))
      await at.run()
      assert.equal((await at.state(made)).endReason, 'payment_failed')
    })

    test('case 31: one that is removed between the payment’s row and the request is not our fault', async () => {
      const made = await at.renewable()
      assert.ok(made.paymentMethodId)
      const { transaction } = at.context.processing.database
      let removed = false
      const database = {
        ...at.context.processing.database,
        transaction: (async (work) => {
          const done = await transaction(work)
          if (!removed) {
            removed = true
            await sql`update billing.payment_methods set status = 'detached'
              where id = ${made.paymentMethodId}`.execute(at.billing.database.db)
          }
          return done
        }) as typeof transaction,
      }
      at.pass(days(31))
      const context = { ...at.context, processing: { ...at.context.processing, database } }
      await runDueSubscriptions(context, { lanes: 1 })
      assert.ok(removed)
      assert.deepEqual(at.till.asked, [])
      assert.deepEqual(await at.statuses(made), ['paid', 'canceled'])
      await at.run()
      assert.equal((await at.state(made)).status, 'past_due')
      assert.deepEqual(await at.told(made), ['SubscriptionPaymentFailed'])
      const { rows } =
        await sql`select from billing.schedules where held_reason is not null`.execute(
          at.billing.database.db,
        )
      assert.deepEqual(rows, [])
    })

    test('a decline that is reported after the retry began changes nothing', async () => {
      const made = await at.renewable()
      answers(at, unanswered)
      at.pass(days(31))
      await at.run()
      const old = (await at.payments(made)).at(-1)
      assert.ok(old)
      await age(at.billing, old, 2)
      answers(at, unanswered)
      await pollPayment(old.id, at.context)
      await at.run()
      assert.equal(at.till.asked.length, 2)
      await at.report({
        type: 'payment',
        payment: { id: old.id },
        status: 'failed',
        declineCode: 'stolen',
      })
      const state = await at.state(made)
      assert.deepEqual([state.status, (await at.lastPeriod(made)).declines], ['active', 0])
      const second = (await at.payments(made)).at(-1)
      assert.ok(second)
      await at.report(at.paidOutcome(second))
      assert.equal((await at.state(made)).status, 'active')
      // The first was paid all the same.
      await at.report(at.paidOutcome(old))
      assert.deepEqual(await at.reviews(), ['period_paid_twice'])
    })

    test('two reports of one decline are one', async () => {
      const made = await at.renewable()
      answers(at, declined())
      at.pass(days(31))
      await at.run()
      const failed = (await at.payments(made)).at(-1)
      assert.ok(failed)
      const again = {
        type: 'payment',
        payment: { id: failed.id },
        status: 'failed',
        declineCode: 'no_money',
      } as const
      await at.report(again, again)
      await at.report(again)
      assert.equal((await at.lastPeriod(made)).declines, 1)
      assert.deepEqual(await at.told(made), ['SubscriptionPaymentFailed'])
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

    test('case 26: not confirmed, it is told no second time, and the card is charged as planned', async () => {
      const made = await at.renewable()
      answers(at, async () => ({ outcomes: [], redirectUrl: 'https://bank.example/3ds' }))
      at.pass(days(31))
      await at.run()
      const waiting = (await at.payments(made)).at(-1)
      assert.ok(waiting)
      await at.report({
        type: 'payment',
        payment: { id: waiting.id },
        status: 'failed',
        declineCode: 'confirm_it',
      })
      assert.deepEqual(await at.told(made), ['SubscriptionPaymentFailed'])
      await at.retry(made)
      assert.deepEqual(await at.told(made), ['SubscriptionPaymentFailed', 'SubscriptionRenewed'])
      assert.equal(at.till.asked.length, 2)
    })
  })
})
