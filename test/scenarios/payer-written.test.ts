import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { requeueCallsWithPayment } from '../../src/outcomes/waiting-calls.ts'
import type { PaymentDetails } from '../../src/wire/payment-details.ts'
import type { WebhookCall } from '../../src/events/webhook-call.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import { keyOf, settingsOf, textAbout, wireOf } from '../spec/callbacks.ts'
import { newPayment, openBilling, idle, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'

// What the payer, or the merchant's page, writes into a checkout comes back under the provider's
// signature. None of it may touch the payment of somebody else, or keep his own from being paid.

type Fields = Readonly<Record<string, unknown>>

onAnyDatabase((engine) => {
  let opened: TestBilling
  let granted: string[]
  before(async () => {
    opened = await openBilling(engine, { gateways: settingsOf() })
    opened.core.on('PaymentSucceeded', 'grant', ({ payment }) => {
      granted.push(`${payment.payable.id} ${payment.amount} ${payment.currency}`)
    })
    granted = []
    await opened.core.work()
  })
  after(() => opened.close())

  const create = (gateway: string, input: Partial<CreatePaymentInput> = {}) =>
    newPayment(opened.core, { gateway, payable: { type: 'plan', id: randomUUID() }, ...input })
  /** The provider's callback about the payment, with these fields of its object written so. */
  const send = async (payment: Payment, scenario: string, fields: Fields): Promise<WebhookCall> => {
    const { gateway } = payment
    const event = JSON.parse(textAbout(payment, scenario)) as { data: Record<string, unknown> }
    const object = gateway === 'stripe' ? (event.data['object'] as object) : event.data
    Object.assign(object, fields)
    const { headers, body } = wireOf(gateway).sign(JSON.stringify(event), keyOf(gateway))
    const target = `/billing/webhooks/${gateway}`
    const sent = { gateway, target, headers, body: Buffer.from(body) }
    assert.equal((await opened.core.receive(sent)).status, 200)
    await idle(opened.core)
    const [call] = (await opened.core.calls.list({ limit: 1 })).data
    assert.ok(call)
    return call
  }
  const read = async ({ id }: Pick<Payment, 'id'>): Promise<PaymentDetails> => {
    const found = await opened.core.payments.get(id)
    assert.ok(found)
    return found
  }
  const statusOf = async (payment: Payment) => (await read(payment)).status
  const assertUntouched = async (payment: Payment) => {
    const { status, checkoutReference, providerReference, refunds, events } = await read(payment)
    assert.deepEqual([status, refunds, events], ['pending', [], []])
    assert.equal(checkoutReference, payment.checkoutReference)
    assert.equal(providerReference, payment.providerReference)
  }
  const txn = () => `txn_${randomUUID().replaceAll('-', '').slice(0, 26)}`
  const sub = () => `sub_${randomUUID().replaceAll('-', '').slice(0, 26)}`
  const chargesOf = async ({ payable }: Payment) =>
    (await opened.core.payments.list({ limit: 100 })).data
      .filter((one) => one.payable.id === payable.id)
      .map(({ amount, currency, status }) => `${amount} ${currency} ${status}`)
      .toSorted()

  const customData: readonly ((other: Payment) => unknown)[] = [
    () => ({ utm_source: 'mail' }),
    () => null,
    () => ({ payment_id: 'order 7' }),
    ({ id }) => ({ payment_id: id }),
    () => ({ payment_id: randomUUID() }),
  ]
  test('Paddle: the checkout that we opened pays its payment though its custom data name another', async () => {
    const own = await create('paddle', { checkoutReference: txn() })
    const other = await create('paddle')
    const custom_data = { payment_id: other.id }
    await send(own, 'declined', { custom_data })
    assert.equal(await statusOf(own), 'failed')
    await send(own, 'paid', { custom_data })
    assert.equal(await statusOf(own), 'paid')
    await assertUntouched(other)
  })

  test('Paddle: a decline or an end of another’s checkout does nothing to the payment it names', async () => {
    const other = await create('paddle')
    for (const scenario of ['declined', 'canceled']) {
      const call = await send(other, scenario, { id: txn() })
      assert.deepEqual([call.state, call.needsReview], ['ignored', false])
      await assertUntouched(other)
    }
  })

  test('Paddle: a decline that came before we knew the checkout counts once we know it', async () => {
    const checkoutReference = txn()
    const id = randomUUID()
    const unknown = { ...(await create('paddle')), id, checkoutReference }
    await send(unknown, 'declined', { custom_data: { payment_id: 'lost' } })
    const payment = await create('paddle', { id, checkoutReference })
    await idle(opened.core)
    assert.equal(await statusOf(payment), 'failed')
  })

  test('Paddle: a payment without a checkout of its own is paid in full by the one that names it', async () => {
    const payment = await create('paddle')
    const cheap = await send(payment, 'paid', { id: txn(), details: totals('1') })
    assert.equal(cheap.needsReview, true)
    await assertUntouched(payment)
    const own = txn()
    await send(payment, 'paid', { id: own })
    const { status, checkoutReference } = await read(payment)
    assert.deepEqual([status, checkoutReference], ['paid', own])
  })

  test('Paddle: a checkout that costs nothing asks nobody about the payment that its payer named', async () => {
    const free = { details: totals('0') }
    for (const other of [
      await create('paddle'),
      await create('paddle', { checkoutReference: txn() }),
    ]) {
      const call = await send(other, 'paid', { id: txn(), ...free })
      assert.deepEqual([call.state, call.needsReview], ['ignored', false])
      await assertUntouched(other)
    }
    const own = await create('paddle', { checkoutReference: txn() })
    assert.equal(
      (await send(own, 'paid', free)).needsReview,
      true,
      'a discount on our own checkout',
    )
  })

  test('Stripe: the end of a Payment Link does nothing to the payment that its payer named', async () => {
    const other = await create('stripe')
    const link = { metadata: {}, client_reference_id: other.id, payment_link: 'plink_1' }
    for (const scenario of ['async_failed', 'expired']) {
      await send(other, scenario, { ...link, id: `cs_${randomUUID().replaceAll('-', '')}` })
      await assertUntouched(other)
    }
  })

  test('Stripe: what a payer adds to the link of his own payment keeps it from nothing', async () => {
    const other = await create('stripe')
    for (const reference of [other.id, 'order 7', randomUUID(), null]) {
      const own = await create('stripe')
      await send(own, 'paid', { client_reference_id: reference })
      assert.equal(await statusOf(own), 'paid')
    }
    await assertUntouched(other)
  })

  test('Stripe: a Payment Link pays the payment that its payer named, and renews it by its subscription', async () => {
    const payment = await create('stripe', { currency: 'USD', amount: 4999 })
    const subscription = sub()
    const link = { metadata: {}, client_reference_id: payment.id, payment_link: 'plink_1' }
    const began = { mode: 'subscription', subscription, payment_intent: null }
    await send(payment, 'paid', { ...link, ...began, invoice: `in_${subscription}1` })
    assert.equal(await statusOf(payment), 'paid')
    const details = { metadata: {}, subscription }
    const renewal = { parent: { subscription_details: details }, id: `in_${subscription}2` }
    await send(payment, 'renewed', renewal)
    assert.deepEqual(await chargesOf(payment), ['4999 USD paid', '4999 USD paid'])
  })

  test('Stripe: a Payment Link of before subscriptions were kept renews once its own is written', async () => {
    const payment = await create('stripe', { currency: 'USD', amount: 4999 })
    await send(payment, 'paid', {})
    const subscription = sub()
    const parent = { subscription_details: { metadata: {}, subscription } }
    const call = await send(payment, 'renewed', { parent, id: `in_${subscription}2` })
    assert.deepEqual([call.outcome?.[0]?.detail, call.needsReview], ['paid', false])
    assert.deepEqual(await chargesOf(payment), ['4999 USD paid'])
    const { db } = opened.database
    await sql`update billing.payments set subscription_reference = ${subscription}
      where id = ${payment.id} and subscription_reference is null`.execute(db)
    await requeueCallsWithPayment(db)
    await idle(opened.core)
    assert.deepEqual(await chargesOf(payment), ['4999 USD paid', '4999 USD paid'])
  })

  const totals = (total: string, currency_code = 'USD') => ({ totals: { total, currency_code } })

  test('Paddle: charges of a cheap subscription are not booked on the dear plan that they name', async () => {
    const dear = await create('paddle', { amount: 99_900, checkoutReference: txn() })
    await send(dear, 'paid', { subscription_id: sub() })
    const cheap = sub()
    granted = []
    for (const money of [totals('100'), totals('1', 'JPY'), totals('99900')]) {
      const renewal = { id: txn(), subscription_id: cheap, details: money }
      const call = await send(dear, 'renewed', renewal)
      assert.deepEqual([call.state, call.needsReview], ['ignored', true])
      await send(dear, 'renewal_declined', { ...renewal, id: txn() })
    }
    assert.deepEqual(await chargesOf(dear), ['99900 USD paid'])
    assert.deepEqual(granted, [])
  })

  test('Paddle: a renewal is known by its subscription, whatever its custom data say', async () => {
    const subscription_id = sub()
    const first = await create('paddle', { checkoutReference: txn() })
    const other = await create('paddle', { checkoutReference: txn() })
    // The subscription is not always there when the money is.
    await send(first, 'captured', { subscription_id: null })
    await send(first, 'paid', { subscription_id })
    for (const custom of customData) {
      const fields = { id: txn(), subscription_id, custom_data: custom(other) }
      const call = await send(first, 'renewed', fields)
      assert.deepEqual([call.state, call.needsReview], ['processed', false])
    }
    const charges = Array.from({ length: customData.length + 1 }, () => '4999 USD paid')
    assert.deepEqual(await chargesOf(first), charges)
    await assertUntouched(other)
  })

  test('a renewal of other money than the first counts, and a person looks', async () => {
    const subscription_id = sub()
    const first = await create('paddle', { checkoutReference: txn() })
    await send(first, 'paid', { subscription_id })
    for (const money of [totals('100'), totals('9999'), totals('4999', 'EUR')]) {
      const call = await send(first, 'renewed', { id: txn(), subscription_id, details: money })
      assert.deepEqual(call.outcome, [
        { result: 'applied', type: 'payment:paid', detail: 'renewal_money_differs' },
      ])
      assert.equal(call.needsReview, true)
    }
  })

  test('Paddle: a plan that was paid before its subscription was kept is renewed by what it claims', async () => {
    const first = await create('paddle', { checkoutReference: txn() })
    await send(first, 'paid', { subscription_id: null })
    const subscription_id = sub()
    const cheap = await send(first, 'renewed', { id: txn(), subscription_id, details: totals('1') })
    assert.deepEqual([cheap.state, cheap.needsReview], ['ignored', true])
    await send(first, 'renewed', { id: txn(), subscription_id })
    // From then on it is known.
    await send(first, 'renewed', { id: txn(), subscription_id, custom_data: null })
    await send(first, 'renewal_declined', { id: txn(), subscription_id, custom_data: null })
    assert.deepEqual(await chargesOf(first), ['4999 USD failed', ...Array(3).fill('4999 USD paid')])
  })

  test('Paddle: a plan that is not paid yet takes no subscription from what only claims it', async () => {
    const plan = await create('paddle', { checkoutReference: txn() })
    const foreign = await send(plan, 'renewed', { id: txn(), subscription_id: sub() })
    assert.deepEqual(foreign.outcome, [
      { result: 'applied', type: 'payment:paid', detail: 'first_payment_unpaid' },
    ])
    const subscription_id = sub()
    await send(plan, 'paid', { subscription_id })
    const own = await send(plan, 'renewed', { id: txn(), subscription_id, custom_data: null })
    assert.deepEqual([own.state, own.needsReview], ['processed', false])
  })
})
