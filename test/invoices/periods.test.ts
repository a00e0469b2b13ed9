import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import { sql } from 'kysely'
import { findInvoice } from '../../src/database/read-invoices.ts'
import { days, hours } from '../../src/kernel/duration.ts'
import { cancelNowOrLater } from '../../src/money/change-subscription.ts'
import type { SubscriptionContext } from '../../src/money/context.ts'
import { issueInvoice } from '../../src/money/issue-invoice.ts'
import { onBothDatabases } from '../support/databases.ts'
import { paid } from '../support/statements.ts'
import {
  answers,
  declined,
  openSubscribing,
  takesMoney,
  type Subscribing,
} from '../subscriptions/subscribing.ts'
import { issuing, seller } from './sellers.ts'

onBothDatabases((engine) => {
  suite('documents of periods', { concurrency: 1 }, () => {
    let world: Subscribing
    before(async () => {
      world = await openSubscribing(engine, {}, { invoices: issuing })
    })
    // Those of the tests before rest: the provider's next answers are for others.
    beforeEach(async () => {
      takesMoney(world.script, world.till)
      const { db } = world.billing.database
      await sql`update billing.subscriptions set next_action_at = null`.execute(db)
    })
    after(() => world.billing.close())

    const of = async ({ id }: { readonly id: string }) => {
      const { data } = await world.billing.core.invoices.list({ subscriptionId: id })
      return data.toReversed()
    }
    const contextOf = (): SubscriptionContext => ({
      ...world.context,
      subscriptions: { plans: {}, graceAccess: true, timeZone: 'UTC' },
    })
    /** Types of the events of documents of the subscription that were written, by document. */
    const told = async ({ id }: { readonly id: string }) => {
      const { rows } = await sql<{ type: string; state: string }>`
        select type, state from billing.deferred_events
        where subscription_id = ${id}::uuid and invoice_id is not null
        order by created_at, id`.execute(world.billing.database.db)
      return rows.map(({ type }) => type)
    }

    test('each is issued with its period, and paid with it', async () => {
      const { subscription, payment } = await world.subscribe({
        customer: { name: 'Ada', email: 'ada@example.com' },
      })
      const [first] = await of(subscription)
      assert.ok(first && payment)
      assert.equal(first.status, 'issued')
      assert.equal(first.paymentId, null)
      assert.deepEqual(first.lines, [{ description: 'Gold', quantity: 1, amount: 4_999n }])
      assert.deepEqual(first.seller, seller)
      assert.deepEqual(first.buyer, { name: 'Ada', email: 'ada@example.com' })
      assert.deepEqual(first.payable, subscription.payable)
      assert.ok(first.period)
      await world.billing.sayBy('scripted', paid(payment))
      const [afterwards] = await of(subscription)
      assert.equal(afterwards?.status, 'paid')
      assert.equal(afterwards?.paymentId, payment.id)
      assert.equal(afterwards?.number, first.number)
      const card = await world.card()
      await sql`update billing.subscriptions set payment_method_id = ${card}::uuid
        where id = ${subscription.id}::uuid`.execute(world.billing.database.db)
      world.pass(days(32))
      await world.run()
      const all = await of(subscription)
      assert.deepEqual(
        all.map(({ status }) => status),
        ['paid', 'paid'],
      )
      const periods = await world.periods(subscription)
      assert.deepEqual(
        all.map(({ periodId, paymentId }) => [periodId, paymentId]),
        periods.map(({ id, paidPaymentId }) => [id, paidPaymentId]),
      )
      assert.deepEqual(await told(subscription), [
        'InvoiceIssued',
        'InvoicePaid',
        'InvoiceIssued',
        'InvoicePaid',
      ])
      // The payment of a period has its period's.
      const again = await issueInvoice(payment.id, {}, world.context)
      assert.equal(again.id, first.id)
    })

    test('declined attempts leave the one document, which is void with its period', async () => {
      const subscription = await renewing()
      answers(world, declined(), declined(), declined(), declined(), declined(), declined())
      world.pass(days(32))
      await world.run()
      const [, second] = await of(subscription)
      assert.equal(second?.status, 'issued')
      await assert.rejects(world.billing.core.invoices.void(second.id), {
        code: 'invoice_not_voidable',
      })
      for (let day = 0; day < 20; day += 1) {
        world.pass(days(1))
        await world.run()
      }
      assert.equal((await world.state(subscription)).status, 'canceled')
      const all = await of(subscription)
      assert.deepEqual(
        all.map(({ status }) => status),
        ['paid', 'void'],
      )
      assert.equal(all[1]?.number, second.number)
    })

    test('a wish that ends the subscription voids what is owed', async () => {
      const { subscription } = await world.subscribe()
      await cancelNowOrLater(subscription.id, { at: 'now' }, contextOf())
      assert.deepEqual(
        (await of(subscription)).map(({ status }) => status),
        ['void'],
      )
      assert.deepEqual(await told(subscription), ['InvoiceIssued'])
    })

    test('money that bought no period has a document of its own, and not the void one', async () => {
      const { subscription, payment } = await world.subscribe()
      assert.ok(payment)
      await cancelNowOrLater(subscription.id, { at: 'now' }, contextOf())
      await world.billing.sayBy('scripted', paid(payment))
      const own = await issueInvoice(payment.id, {}, world.context)
      assert.equal(own.status, 'paid')
      assert.deepEqual([own.paymentId, own.periodId], [payment.id, null])
      assert.equal((await issueInvoice(payment.id, {}, world.context)).id, own.id)
      const [voided] = await of(subscription)
      assert.equal(voided?.status, 'void')
      assert.notEqual(voided.number, own.number)
    })

    test('what was paid for a period a second time has a document of its own', async () => {
      const subscription = await renewing()
      const [period] = await world.periods(subscription)
      const [first] = await of(subscription)
      const second = await world.billing.createPaid()
      await sql`update billing.payments set period_id = ${period?.id}::uuid
        where id = ${second.id}::uuid`.execute(world.billing.database.db)
      const own = await issueInvoice(second.id, {}, world.context)
      assert.notEqual(own.id, first?.id)
      assert.deepEqual([own.status, own.paymentId], ['paid', second.id])
      assert.equal(first?.paymentId, period?.paidPaymentId)
    })

    test('what costs nothing has none, and a trial has none before it is over', async () => {
      const free = await world.subscribe({ amount: 0n })
      const trial = await world.subscribe({
        trialEndsAt: new Date(world.clock.now.getTime() + days(7)),
        paymentMethodId: await world.card(),
      })
      assert.deepEqual(await of(free.subscription), [])
      assert.deepEqual(await of(trial.subscription), [])
      world.pass(days(8))
      await world.run()
      assert.deepEqual(
        (await of(trial.subscription)).map(({ status }) => status),
        ['paid'],
      )
    })

    test('a period opened by a version that issues none is granted without; it can be issued', async () => {
      const subscription = await renewing()
      const { db } = world.billing.database
      const quiet = {
        ...world.context,
        processing: {
          ...world.context.processing,
          invoicing: { ...world.context.processing.invoicing, seller: null },
        },
      }
      const { runDueSubscriptions } = await import('../../src/upkeep/run-subscriptions.ts')
      world.pass(days(32))
      await runDueSubscriptions(quiet)
      const periods = await world.periods(subscription)
      const last = periods.at(-1)
      assert.equal(last?.state, 'paid')
      assert.equal((await of(subscription)).length, 1)
      const issued = await issueInvoice(last.paidPaymentId ?? '', {}, world.context)
      assert.equal(issued.status, 'paid')
      assert.equal(issued.periodId, last.id)
      assert.equal(issued.subscriptionId, subscription.id)
      assert.equal((await of(subscription)).length, 2)
      // One that is still owed gets it with the next attempt.
      world.pass(days(32))
      answers(world, declined())
      await runDueSubscriptions(quiet)
      assert.equal((await of(subscription)).length, 2)
      world.pass(days(2))
      await world.run()
      const all = await of(subscription)
      assert.deepEqual(
        all.map(({ status }) => status),
        ['paid', 'paid', 'paid'],
      )
      const urlOf = (id: string) => id
      assert.equal((await findInvoice(db, all[2]?.id ?? '', urlOf))?.url, all[2]?.id)
    })

    /** Paid for the first period, with a card. */
    async function renewing() {
      const { subscription } = await world.subscribe({ paymentMethodId: await world.card() })
      await world.run()
      world.pass(hours(1))
      const paidUp = await world.state(subscription)
      assert.equal(paidUp.status, 'active')
      return paidUp
    }
  })
})
