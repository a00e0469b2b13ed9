import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { onPostgres } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { concurrently, openMoney, type MoneyBilling } from './money-billing.ts'
import { mishapsOf, providers } from './providers.ts'

onPostgres((engine) => {
  for (const [name, start] of providers) {
    describe(name, { concurrency: 1 }, () => {
      let billing: MoneyBilling
      before(async () => {
        billing = await openMoney(engine, await start())
      })
      after(async () => {
        await billing.close()
        await billing.provider.close()
      })
      const asked = () => billing.provider.asked.filter(({ asking }) => asking === 'refund').length
      const refundRows = async (payment: Payment) =>
        (await billing.details(payment)).refunds.map(({ status, amount }) => `${status} ${amount}`)
      const complete = async (payment: Payment) => {
        billing.provider.completeRefunds(payment.id)
        await billing.deliver(billing.provider.refundCallback(payment.id))
      }

      test('a whole refund is one row and one event, however often it is told', async () => {
        const payment = await billing.createPaid()
        const before = asked()
        const refund = await billing.core.refunds.create(payment.id, { reason: 'Sent back' })
        assert.equal(asked() - before, 1)
        assert.ok(['paid', 'pending'].includes(refund.status), refund.status)
        assert.deepEqual([refund.amount, refund.parentId], [15_075n, payment.id])
        await complete(payment)
        await complete(payment)
        await billing.core.payments.poll(payment.id)
        assert.deepEqual(await refundRows(payment), ['paid 15075'])
        assert.deepEqual(await billing.events(payment), ['PaymentSucceeded', 'PaymentRefunded'])
        assert.equal((await billing.details(payment)).status, 'paid', 'a charge stays paid')
      })

      test('two parts are two rows, and what is left is the limit', async () => {
        const payment = await billing.createPaid()
        await billing.core.refunds.create(payment.id, { amount: 5_000 })
        await complete(payment)
        await billing.core.refunds.create(payment.id, { amount: 10_000n })
        await complete(payment)
        assert.deepEqual(await refundRows(payment), ['paid 5000', 'paid 10000'])
        const before = asked()
        await assert.rejects(
          billing.core.refunds.create(payment.id, { amount: 76 }),
          (error) => isQuittanceError(error) && error.code === 'refund_too_large',
        )
        assert.equal(asked(), before, 'the provider is not asked')
        assert.deepEqual(await billing.events(payment), [
          'PaymentSucceeded',
          'PaymentRefunded',
          'PaymentRefunded',
        ])
      })

      test('the answer races the callback that echoes it: one row, one event', async () => {
        const payment = await billing.createPaid()
        billing.provider.misbehave('refund', 'late')
        const refunding = billing.core.refunds.create(payment.id)
        await until(() => billing.provider.refunds(payment.id).length > 0, {
          what: 'the provider has done it',
        })
        const told = complete(payment)
        await refunding
        // A callback that meets the refund under way is put off; nothing is left to wait for.
        await sql`update billing.webhook_calls set next_attempt_at = clock_timestamp()
          where state = 'pending'`.execute(billing.database.db)
        await told
        await complete(payment)
        assert.deepEqual(await refundRows(payment), ['paid 15075'])
        assert.deepEqual(await billing.events(payment), ['PaymentSucceeded', 'PaymentRefunded'])
      })

      for (const [mishap, done] of [...mishapsOf(name), ['wrong', 'done']] as const) {
        test(`a refund that is answered ${mishap} is asked for once, and known in the end`, async () => {
          const payment = await billing.createPaid()
          const before = asked()
          billing.provider.misbehave('refund', mishap)
          await assert.rejects(
            billing.core.refunds.create(payment.id),
            (error) => isQuittanceError(error) && error.code === 'refund_unknown',
          )
          await assert.rejects(
            billing.core.refunds.create(payment.id, { amount: 1 }),
            (second) => isQuittanceError(second) && second.code === 'refund_too_large',
            'the same money is not refunded twice meanwhile',
          )
          billing.provider.completeRefunds(payment.id)
          // No provider takes longer than a day to list what it has taken on.
          await billing.pass(payment, 25)
          await billing.core.reconcile()
          assert.equal(asked() - before, 1, 'one request reached the provider')
          const made = billing.provider.refunds(payment.id).length
          assert.equal(made, done === 'done' ? 1 : 0)
          assert.deepEqual(await refundRows(payment), [
            done === 'done' ? 'paid 15075' : 'failed 15075',
          ])
          const told =
            done === 'done' ? ['PaymentSucceeded', 'PaymentRefunded'] : ['PaymentSucceeded']
          assert.deepEqual(await billing.events(payment), told)
        })
      }

      test('a refund that is refused fails, and the money can be refunded again', async () => {
        const payment = await billing.createPaid()
        billing.provider.misbehave('refund', 'refuse')
        await assert.rejects(
          billing.core.refunds.create(payment.id),
          (error) => isQuittanceError(error) && error.code === 'refund_refused',
        )
        assert.deepEqual(await refundRows(payment), ['failed 15075'])
        await billing.core.refunds.create(payment.id)
        await complete(payment)
        assert.deepEqual(await refundRows(payment), ['failed 15075', 'paid 15075'])
        assert.deepEqual(await billing.events(payment), ['PaymentSucceeded', 'PaymentRefunded'])
      })

      test('money that went back by hand is found by a poll', async () => {
        const payment = await billing.createPaid()
        billing.provider.refundByHand(payment.id, 15_075n)
        await billing.core.payments.poll(payment.id)
        assert.deepEqual(await refundRows(payment), ['paid 15075'])
        assert.deepEqual(await billing.events(payment), ['PaymentSucceeded', 'PaymentRefunded'])
      })
    })
  }
}, concurrently)
