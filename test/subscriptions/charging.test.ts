import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { holdCharges, releaseCharges } from '../../src/database/charge-holds.ts'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { cancelPayment } from '../../src/money/cancel-payment.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import { applyReport } from '../../src/processing/apply-report.ts'
import { runDueSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import { age } from '../money/scripted.ts'
import { until } from '../support/until.ts'
import { addDue } from './due-subscriptions.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openRenewing, type Renewing } from './renewing.ts'
import { answers, declined, takesMoney, unanswered } from './subscribing.ts'

const month = days(31)

onAnyDatabase((engine) => {
  describe('a subscription that we charge', () => {
    let at: Renewing
    before(async () => {
      at = await openRenewing(engine)
    })
    after(() => at.billing.close())
    beforeEach(async () => {
      await at.reset()
      at.till.debits.length = 0
    })

    const states = async (of: { readonly id: string }) =>
      (await at.periods(of)).map(({ state }) => state)
    const paidTwice = async () =>
      sql<{ id: string }>`
      select period_id as id from billing.payments where status = 'paid' and period_id is not null
      group by period_id having count(*) > 1`.execute(at.billing.database.db)

    test('is charged when its period is over, and granted for the money', async () => {
      const made = await at.renewable()
      assert.ok(made.paidUntil)
      at.pass(days(20))
      assert.equal(await at.run(), 0)
      at.pass(days(12))
      await at.run()
      const renewed = await at.state(made)
      assert.equal(renewed.status, 'active')
      assert.ok(renewed.paidUntil)
      assert.ok(renewed.paidUntil > made.paidUntil)
      assert.deepEqual(await states(made), ['paid', 'paid'])
      assert.deepEqual(await at.statuses(made), ['paid', 'paid'])
      assert.deepEqual(at.till.asked, [(await at.payments(made))[1]?.id])
      const [, payment] = await at.payments(made)
      const [, period] = await at.periods(made)
      assert.deepEqual([period?.paidPaymentId, payment?.periodId], [payment?.id, period?.id])
      assert.deepEqual([payment?.payable, payment?.description], [made.payable, 'Gold'])
      assert.deepEqual(await at.events(made), ['SubscriptionRenewed', 'SubscriptionRenewed'])
      assert.equal(await at.run(), 0)
    })

    test('10: an answer that comes after the time-out is found by a poll: one debit', async () => {
      const made = await at.renewable()
      answers(at, async ({ payment }) => {
        at.till.debits.push(payment.id)
        throw new QuittanceError('provider_unreachable', 'too late')
      })
      at.pass(month)
      await at.run()
      const [, payment] = await at.payments(made)
      assert.ok(payment)
      assert.deepEqual([payment.status, payment.checkout], ['pending', 'unknown'])
      assert.equal((await at.state(made)).status, 'active')
      at.pass(hours(1))
      await at.run()
      assert.equal(at.till.asked.length, 1)
      await pollPayment(payment.id, at.context)
      assert.deepEqual(await states(made), ['paid', 'paid'])
      await at.run()
      assert.equal(at.till.debits.length, 2)
      assert.deepEqual((await paidTwice()).rows, [])
    })

    test('11: what the provider has never heard of is charged anew after an hour: one debit', async () => {
      const made = await at.renewable()
      answers(at, unanswered)
      at.pass(month)
      await at.run()
      const [, payment] = await at.payments(made)
      assert.ok(payment)
      await pollPayment(payment.id, at.context)
      await at.run()
      assert.equal(at.till.asked.length, 1)
      await age(at.billing, payment, 2)
      await pollPayment(payment.id, at.context)
      await at.run()
      assert.deepEqual(await at.statuses(made), ['paid', 'canceled', 'paid'])
      assert.deepEqual(await states(made), ['paid', 'paid'])
      assert.equal(at.till.asked.length, 2)
      assert.equal(at.till.debits.length, 2)
      assert.equal((await at.state(made)).status, 'active')
    })

    test('money that is reported again grants nothing again', async () => {
      const made = await at.renewable()
      at.pass(month)
      await at.run()
      const [, payment] = await at.payments(made)
      assert.ok(payment)
      const before = await at.state(made)
      const report = { gateway: 'scripted', cause: 'poll', queue: 'default' } as const
      const outcomes = [at.paidOutcome(payment), at.paidOutcome(payment)]
      await applyReport({ ...report, outcomes }, at.context.processing)
      assert.deepEqual(await at.state(made), before)
      assert.equal((await at.events(made)).length, 2)
      assert.deepEqual(await at.reviews(), [])
    })

    test('a declined payment that is paid after all pays the period', async () => {
      const made = await at.renewable()
      answers(at, declined())
      at.pass(month)
      await at.run()
      const [, payment] = await at.payments(made)
      assert.ok(payment)
      const report = { gateway: 'scripted', cause: 'poll', queue: 'default' } as const
      await applyReport({ ...report, outcomes: [at.paidOutcome(payment)] }, at.context.processing)
      assert.equal((await at.state(made)).status, 'active')
      assert.deepEqual(await states(made), ['paid', 'paid'])
      at.pass(days(2))
      await at.run()
      assert.equal(at.till.asked.length, 1)
    })

    test('a process that works charges what is due by itself', async () => {
      const { db } = at.billing.database
      const start = new Date(Math.floor(Date.now() / 1000) * 1000)
      await addDue(at.billing.database, { start, count: 3 })
      const paid = async () => {
        const { rows } = await sql`select from billing.subscription_periods as period
          join billing.subscriptions as subscription on subscription.id = period.subscription_id
          where period.state = 'paid' and subscription.created_at = ${start}`.execute(db)
        return rows.length
      }
      await until(async () => (await paid()) === 3, { what: 'all three are paid' })
      assert.equal(at.till.asked.length, 3)
    })

    test('16: a hold stops charges at once; what is under way is finished', async () => {
      const { db } = at.billing.database
      const made = await Promise.all(Array.from({ length: 5 }, () => at.renewable()))
      at.till.asked.length = 0
      answers(at, async ({ payment }) => {
        await holdCharges(db, 'a wrong price')
        return { outcomes: [at.paidOutcome(payment)] }
      })
      at.pass(month)
      await runDueSubscriptions(at.context, { lanes: 1 })
      assert.equal(at.till.asked.length, 1)
      for (const one of made) assert.equal((await at.state(one)).status, 'active')
      await releaseCharges(db)
      at.pass(hours(1))
      await at.run()
      assert.equal(at.till.asked.length, 5)
      for (const one of made) assert.deepEqual(await states(one), ['paid', 'paid'])
    })

    test('17: with the credentials of another account or mode nobody is charged', async () => {
      const [made] = [await at.renewable(), await at.renewable()]
      await sql`update billing.subscriptions set merchant_account = 'shop', live = false
        where id = ${made.id}::uuid`.execute(at.billing.database.db)
      const { processing } = at.context
      const run = (merchantAccount: string, live: boolean) => {
        const account = () => ({ merchantAccount, live })
        const find: typeof processing.gateways.find = (name) => {
          const found = processing.gateways.find(name)
          return found && { ...found, gateway: { ...found.gateway, account } }
        }
        const gateways = { ...processing.gateways, find }
        return runDueSubscriptions({ ...at.context, processing: { ...processing, gateways } }, {})
      }
      at.pass(month)
      await run('another', false)
      assert.equal(at.till.asked.length, 1)
      at.pass(minutes(20))
      await run('shop', true)
      assert.equal(at.till.asked.length, 1)
      const standing = await at.state(made)
      assert.equal(standing.status, 'active')
      assert.equal(standing.actionError, null)
      at.pass(minutes(20))
      await run('shop', false)
      assert.equal(at.till.asked.length, 2)
    })

    const refused = async () => {
      throw new QuittanceError('provider_refused', 'Expired API Key', { providerCode: 'key' })
    }

    test('17: a subscription that is refused again and again keeps no other from being charged', async () => {
      const bad = await at.renewable()
      const others = [await at.renewable(), await at.renewable()]
      takesMoney(at.script, at.till)
      const charge = at.script.chargeSavedCard
      assert.ok(charge)
      const { paymentMethodId } = bad
      at.script.chargeSavedCard = async (request, operation) =>
        request.method.id === paymentMethodId ? refused() : charge(request, operation)
      at.pass(month)
      await runDueSubscriptions(at.context, { lanes: 1 })
      for (const one of others) assert.deepEqual(await states(one), ['paid', 'paid'])
      assert.equal((await at.state(bad)).actionError, 'Expired API Key')
      assert.deepEqual(await states(bad), ['paid', 'open'])
    })

    test('a process that was asleep between commit and request does not charge what was given up', async () => {
      const made = await at.renewable()
      at.pass(month)
      const { database } = at.context.processing
      let isAsleep = false
      const transaction: typeof database.transaction = async (work) => {
        const result = await database.transaction(work)
        const attempt = (await at.payments(made)).at(-1)
        if (isAsleep || attempt?.status !== 'pending') return result
        isAsleep = true
        await age(at.billing, attempt, 2)
        await pollPayment(attempt.id, at.context)
        await at.run()
        return result
      }
      const processing = { ...at.context.processing, database: { ...database, transaction } }
      await runDueSubscriptions({ ...at.context, processing }, { lanes: 1 })
      assert.ok(isAsleep)
      assert.deepEqual(await at.statuses(made), ['paid', 'canceled', 'paid'])
      assert.equal(at.till.asked.length, 1)
    })

    test('a charge that was written too long ago does not leave, although nobody has given it up', async () => {
      const made = await at.renewable()
      at.pass(month)
      const { database } = at.context.processing
      const transaction: typeof database.transaction = async (work) => {
        const result = await database.transaction(work)
        const attempt = (await at.payments(made)).at(-1)
        if (attempt?.status === 'pending') await age(at.billing, attempt, 1)
        return result
      }
      const processing = { ...at.context.processing, database: { ...database, transaction } }
      await runDueSubscriptions({ ...at.context, processing }, { lanes: 1 })
      assert.deepEqual(await at.statuses(made), ['paid', 'pending'])
      assert.equal(at.till.asked.length, 0)
    })

    test('20: what was canceled between the take and the step is not charged', async () => {
      const made = await at.renewable()
      at.pass(month)
      const { database } = at.context.processing
      let isCanceled = false
      const transaction: typeof database.transaction = async (work) => {
        if (!isCanceled) {
          isCanceled = true
          await sql`update billing.subscriptions set status = 'canceled', ended_at = ${at.clock.now},
            end_reason = 'requested', next_action_at = null, lease_token = null, lease_until = null
            where id = ${made.id}`.execute(database.db)
        }
        return database.transaction(work)
      }
      const processing = { ...at.context.processing, database: { ...database, transaction } }
      await runDueSubscriptions({ ...at.context, processing }, {})
      assert.ok(isCanceled)
      assert.equal(at.till.asked.length, 0)
      assert.deepEqual(await states(made), ['paid'])
    })

    test('a payment of a period can be canceled, and the card is charged anew', async () => {
      const made = await at.renewable()
      answers(at, unanswered)
      at.pass(month)
      await at.run()
      const [, payment] = await at.payments(made)
      assert.ok(payment)
      await sql`update billing.payments set handed_at = handed_at - interval '10 minutes'
        where id = ${payment.id}`.execute(at.billing.database.db)
      await assert.rejects(cancelPayment(payment.id, at.context), /may still turn up/)
      await age(at.billing, payment, 2)
      await cancelPayment(payment.id, at.context)
      at.pass(minutes(1))
      await at.run()
      assert.deepEqual(await at.statuses(made), ['paid', 'canceled', 'paid'])
    })
  })
})
