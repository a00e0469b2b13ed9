import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { everyOrder } from '../../src/testing/orders.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import type { Statement } from '../support/stating-gateway.ts'
import { paid, refund } from '../support/statements.ts'
import { until } from '../support/until.ts'
import { issuing } from './sellers.ts'

onAnyDatabase((engine) => {
  suite("providers' documents", { concurrency: 1 }, () => {
    let billing: StatedBilling
    const told: string[] = []
    before(async () => {
      billing = await openStated(engine, {
        invoices: issuing,
        listen: ({ core }) =>
          core.on(['InvoiceIssued', 'InvoicePaid'], 'bookkeeping', async ({ dedupKey }) => {
            told.push(dedupKey)
          }),
      })
    })
    after(() => billing.close())

    let count = 0
    const reference = () => `in_${(count += 1)}`
    const of = async (payment: Pick<Payment, 'id'>) =>
      (await billing.core.invoices.list({ paymentId: payment.id })).data
    const stated = (
      { id, amount, currency }: Payment,
      fields: Partial<Statement> & { readonly reference: string; readonly status: string },
    ): Statement => ({
      type: 'invoice',
      payment: { id },
      amount: `${amount}`,
      currency,
      ...fields,
    })

    test('each order of reports ends the same, and tells each event once', async () => {
      for (const order of everyOrder(['issued', 'paid', 'void'])) {
        const payment = await billing.createPaid()
        const name = reference()
        for (const status of [...order, 'paid']) {
          const call = await billing.say(
            stated(payment, { reference: name, status, number: 'A-7' }),
          )
          assert.notEqual(call.state, 'failed')
        }
        const [invoice, ...others] = await of(payment)
        assert.deepEqual(others, [])
        assert.ok(invoice)
        assert.equal(invoice.status, 'paid', order.join())
        assert.equal(invoice.number, 'A-7')
        assert.equal(invoice.issuer, 'provider')
        const keys = [`invoice:issued:${invoice.id}`, `invoice:paid:${invoice.id}`]
        const heard = () => told.filter((key) => keys.includes(key))
        await until(async () => heard().length >= 2, { what: 'both events' })
        assert.deepEqual(heard(), keys, order.join())
      }
    })

    test('what one report lacks, another fills in; what is there stays', async () => {
      const payment = await billing.createPaid()
      const name = reference()
      await billing.say(stated(payment, { reference: name, status: 'issued' }))
      await billing.say(
        stated(payment, {
          reference: name,
          status: 'issued',
          number: 'B-1',
          url: 'https://provider.example/b-1',
          lines: [{ description: '<b>Tea</b>', quantity: 1, amount: '10000' }],
        }),
      )
      await billing.say(
        stated(payment, { reference: name, status: 'issued', number: 'B-2', amount: '1' }),
      )
      const [invoice] = await of(payment)
      assert.equal(invoice?.number, 'B-1')
      assert.equal(invoice?.url, 'https://provider.example/b-1')
      assert.equal(invoice?.total, payment.amount)
    })

    test('a refund is shown on it', async () => {
      const payment = await billing.createPaid()
      await billing.say(stated(payment, { reference: reference(), status: 'paid' }))
      await billing.say(refund(payment, `re_${payment.id}`, { amount: 2_500n }))
      assert.equal((await of(payment))[0]?.credited, 2_500n)
    })

    test('others are ignored, until something of ours has the name that they give', async () => {
      const [id, name] = [newUuid(), reference()]
      const early = { type: 'invoice', status: 'issued', reference: name, payment: { id } } as const
      const call = await billing.say({ ...early, amount: '10000', currency: 'USD' })
      assert.deepEqual(billing.resultsOf(call), ['unknown_payment'])
      assert.equal(call.needsReview, false)
      const payment = await billing.create({ id })
      await until(async () => (await of(payment)).length === 1, { what: 'its document' })
      const foreign = await billing.say({
        type: 'invoice',
        status: 'paid',
        reference: reference(),
        subscriptionReference: 'sub_of_somebody',
        amount: '1',
        currency: 'USD',
      })
      assert.deepEqual(billing.resultsOf(foreign), ['unknown_payment'])
    })

    test('one of a subscription of ours is kept without a payment; by the report that pays, with it', async () => {
      const [id, sub, name] = [newUuid(), `sub_${newUuid()}`, reference()]
      await sql`insert into billing.subscriptions (id, managed_by, gateway, provider_reference, status,
        payable_type, payable_id, amount, currency, every_unit, every_count, time_zone, anchor_number,
        grace_access, created_at, updated_at)
        values (${id}::uuid, 'provider', 'stating', ${sub}, 'active', 'account', '7', 100, 'USD',
          'month', 1, 'UTC', 1, true, now(), now())`.execute(billing.database.db)
      const about = { type: 'invoice', reference: name, subscriptionReference: sub } as const
      const money = { amount: '10000', currency: 'USD' }
      await billing.say({ ...about, status: 'issued', ...money })
      const [issued] = (await billing.core.invoices.list({ subscriptionId: id })).data
      assert.deepEqual(issued?.payable, { type: 'account', id: '7' })
      assert.equal(issued.paymentId, null)
      const payment = await billing.create()
      await billing.say(paid(payment), {
        ...about,
        status: 'paid',
        ...money,
        payment: { id: payment.id },
      })
      const [afterwards] = await of(payment)
      assert.equal(afterwards?.id, issued.id)
      assert.equal(afterwards.status, 'paid')
      assert.equal(afterwards.subscriptionId, id)
    })

    test('a document of another gateway, account or mode than its payment is ignored', async () => {
      const payment = await billing.createPaid({ live: true })
      const about = { reference: reference(), status: 'paid' }
      const results = async (by: string, fields: Partial<Statement>) =>
        billing.resultsOf(await billing.sayBy(by, stated(payment, { ...about, ...fields })))
      assert.deepEqual(await results('echoing', {}), ['gateway_mismatch'])
      assert.deepEqual(await results('stating', { live: false }), ['mode_mismatch'])
      assert.deepEqual(await results('stating', { merchantAccount: 'x' }), ['merchant_mismatch'])
      assert.deepEqual(await of(payment), [])
    })

    test('what no column can hold, or nobody should open, is left out', async () => {
      const payment = await billing.createPaid()
      await billing.say(
        stated(payment, {
          reference: reference(),
          status: 'paid',
          number: 'A\u0000B',
          url: 'javascript:alert(1)',
          issuedAt: 'no time',
        }),
      )
      const [invoice] = await of(payment)
      assert.equal(invoice?.number, null)
      assert.equal(invoice?.url, null)
      const money = await billing.say(
        stated(payment, { reference: reference(), status: 'paid', amount: '-1' }),
      )
      assert.deepEqual(billing.resultsOf(money), ['malformed_payload'])
    })

    test('a charge never has two documents silently, whichever comes first', async () => {
      const first = await billing.createPaid()
      await billing.say(stated(first, { reference: reference(), status: 'paid', number: 'C-1' }))
      await assert.rejects(billing.core.invoices.issue(first.id), {
        code: 'invoice_exists',
        message: /C-1/,
      })
      const second = await billing.createPaid()
      await billing.core.invoices.issue(second.id)
      const call = await billing.say(stated(second, { reference: reference(), status: 'paid' }))
      assert.equal(call.needsReview, true)
      const [review] = (await billing.core.reviews.list({ reason: 'invoiced_twice' })).data
      assert.equal(review?.paymentId, second.id)
      assert.equal((await of(second)).length, 2)
    })
  })
})
