import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { QueuedListener } from '../../src/billing/types.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { Listener } from '../../src/listeners/listener.ts'
import type { PaymentJson } from '../../src/payments/payment.ts'
import { listedPaymentSchema } from '../../src/wire/listed-payment.ts'
import { paymentDetailsSchema, type PaymentDetails } from '../../src/wire/payment-details.ts'
import { paymentSchema } from '../../src/wire/payment.ts'
import { startStripe } from '../providers/stripe.ts'
import { idle } from '../support/billing.ts'
import { postgres } from '../support/databases.ts'
import { openMoney, type MoneyBilling } from './money-billing.ts'

/** As an app answers it. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('what the library hands out is written as JSON in the form of the management API', () => {
  const heard: unknown[] = []
  const listed: unknown[] = []
  const direct: Listener<'PaymentSucceeded' | 'PaymentRefunded'> = async (event, { billing }) => {
    const { payments } = billing
    const { payable } = event.payment
    const made = await payments.create({ gateway: 'fake', amount: 1, currency: 'UAH', payable })
    heard.push(event.payment, made, await payments.get(made.id))
    listed.push(...(await payments.list()).data)
    heard.push((sent(event) as { payment: unknown }).payment)
  }
  const queued: QueuedListener<'PaymentSucceeded'> = (event) => void heard.push(event.payment)

  let billing: MoneyBilling
  let payment: PaymentDetails
  before(async () => {
    billing = await openMoney(postgres, await startStripe(), {
      listeners: {
        direct: { on: ['PaymentSucceeded', 'PaymentRefunded'], run: direct },
        queued: { on: 'PaymentSucceeded', queued: true, run: queued },
      },
    })
    payment = await billing.details(await billing.createPaid({ metadata: { seats: [1, 2] } }))
  })
  after(async () => {
    await billing.close()
    await billing.provider.close()
  })

  const isBase = (value: unknown) => paymentSchema.parse(sent(value))

  test('a payment, wherever it comes from', async () => {
    const { payments, refunds } = billing.core
    const refund = await refunds.create(payment.id, { amount: 75 })
    const polled = await payments.poll(payment.id)
    const canceled = await payments.cancel((await billing.create()).id)
    await idle(billing.core)
    const found = await payments.find(payment.id)
    const { data } = await payments.list({ limit: 100 })
    assert.equal(data.length, 4)
    assert.ok(heard.length > 8)
    for (const one of [refund, polled.payment, canceled, found, ...heard]) isBase(one)
    assert.ok(listed.length > 2)
    for (const one of [...data, ...listed]) listedPaymentSchema.parse(sent(one))
    assert.deepEqual(isBase(found), found?.toJSON())
  })

  test('a payment with its history, disputes and cards included', async () => {
    await sql`insert into billing.disputes
      (id, payment_id, gateway, provider_reference, status, amount, currency)
      values (${newUuid()}, ${payment.id}, 'stripe', 'dp_1', 'open', 100, 'UAH')`.execute(
      billing.database.db,
    )
    const details = await billing.details(payment)
    const json = paymentDetailsSchema.parse(sent(details))
    assert.deepEqual([json.disputes[0]?.amount, json.refunds[0]?.amount], [100, 75])
    assert.deepEqual(json, details.toJSON())
  })

  test('its fields are those of the library, in snake_case', async () => {
    const found = await billing.core.payments.find(payment.id)
    assert.ok(found)
    const json: PaymentJson = found.toJSON()
    const { amount, createdAt, returnUrl, metadata } = found
    assert.deepEqual(
      [json.amount, json.created_at, json.return_url, json.metadata],
      [Number(amount), createdAt.toISOString(), returnUrl, metadata],
    )
    assert.equal(Object.keys(json).length, Object.keys(found).length)
  })

  test('copies, comparisons and structured clones of it take the data alone', async () => {
    const found = await billing.core.payments.find(payment.id)
    assert.ok(found)
    assert.deepStrictEqual({ ...found }, found)
    assert.deepStrictEqual(structuredClone(found), { ...found })
    assert.deepEqual(Object.keys(found).includes('toJSON'), false)
    const order = { ...found.toJSON(), order: 42 }
    assert.deepEqual(sent(order), { ...isBase(found), order: 42 })
  })
})
