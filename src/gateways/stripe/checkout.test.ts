import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../../../test/gateways/stripe/api.ts'
import { otherId, paymentId } from '../../../test/gateways/stripe/events.ts'
import {
  nowSeconds,
  returnUrl,
  sessionId,
  startOperations,
  paymentOf,
} from '../../../test/gateways/stripe/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'

const oneHour = 3600

test('a checkout is one request with exactly these fields, under its own key', async () => {
  await using started = await startOperations()
  const opened = await started.open()
  assert.deepEqual(opened, {
    checkoutReference: sessionId,
    url: `https://checkout.stripe.com/c/pay/${sessionId}`,
    expiresAt: new Date((nowSeconds + oneHour) * 1000),
    live: false,
  })
  assert.deepEqual(started.changes(), [
    [
      '/v1/checkout/sessions',
      {
        mode: 'payment',
        client_reference_id: paymentId,
        'metadata[payment_id]': paymentId,
        'payment_intent_data[metadata][payment_id]': paymentId,
        'line_items[0][quantity]': '1',
        'line_items[0][price_data][currency]': 'usd',
        'line_items[0][price_data][unit_amount]': '4999',
        'line_items[0][price_data][product_data][name]': `Payment ${paymentId.slice(-8)}`,
        success_url: returnUrl,
        cancel_url: returnUrl,
        expires_at: String(nowSeconds + oneHour),
      },
    ],
  ])
  const [asked] = started.standIn.asked
  assert.equal(asked?.request.headers['idempotency-key'], `checkout:${paymentId}:1`)
  assert.equal(asked?.request.headers['stripe-version'], '2026-10-28.endive')
  assert.equal(asked?.request.headers['stripe-account'], undefined)
})

test('what is paid for, who pays and the card that is kept are told where they are known', async () => {
  await using started = await startOperations()
  const customer = { email: ' olena@shop.example ', name: 'Olena' }
  const payment = paymentOf({ description: ` ${'ї'.repeat(300)}`, customer })
  await started.open({ payment, saveCard: true })
  assert.partialDeepStrictEqual(started.changes()[0]?.[1], {
    'line_items[0][price_data][product_data][name]': 'ї'.repeat(250),
    customer_email: 'olena@shop.example',
    'payment_intent_data[setup_future_usage]': 'off_session',
    customer_creation: 'always',
  })
})

test('a card is kept for the customer that is known, and for a new one if Stripe refuses that', async () => {
  await using started = await startOperations()
  const paid = paymentOf({ id: otherId })
  await started.open({ payment: paid, saveCard: true })
  started.standIn.pay(otherId)
  const payment = paymentOf({ customer: { email: 'olena@shop.example' } })
  const customer = `cus_${otherId.replaceAll('-', '')}`
  await started.open({ payment, saveCard: true, customerReference: customer })
  const fields = started.changes()[1]?.[1]
  assert.equal(fields?.['customer'], customer)
  assert.deepEqual([fields['customer_creation'], fields['customer_email']], [undefined, undefined])

  await using alone = await startOperations()
  const opened = await alone.open({ payment, saveCard: true, customerReference: 'cus_deleted' })
  assert.equal(opened.checkoutReference, sessionId)
  const [refused, made] = alone.changes().map(([, sent]) => sent)
  assert.equal(refused?.['customer'], 'cus_deleted')
  assert.equal(made?.['customer'], undefined)
  assert.equal(made?.['customer_creation'], 'always')
})

test('an address that is none is left out', async () => {
  for (const email of ['olena', 'olena @shop.example', '', 7, null]) {
    await using started = await startOperations()
    await started.open({ payment: paymentOf({ customer: { email } }) })
    assert.equal(started.changes()[0]?.[1]['customer_email'], undefined)
  }
})

test('the checkout opens in the customer’s language, if Stripe has it', async () => {
  for (const [given, sent] of [
    ['en', 'en'],
    ['en-GB', 'en-GB'],
    ['de-AT', 'de'],
    ['pt-BR', 'pt-BR'],
    ['zh-Hant', 'zh-TW'],
    ['uk-UA', undefined],
    ['auto', undefined],
  ] as const) {
    await using started = await startOperations()
    await started.open({ payment: paymentOf({ customer: { locale: given } }) })
    assert.equal(started.changes()[0]?.[1]['locale'], sent)
  }
})

test('a checkout lives as long as asked for, within half an hour and a day', async () => {
  const cases = [
    [0, 31 * 60],
    [29 * 60, 31 * 60],
    [3600, 3600],
    [86_400, 86_340],
    [10 * 86_400, 86_340],
  ] as const
  for (const [asked, life] of cases) {
    await using started = await startOperations()
    const expiresAt = new Date((nowSeconds + asked) * 1000)
    const opened = await started.open({ expiresAt })
    assert.equal(Number(opened.expiresAt) / 1000 - nowSeconds, life)
  }
})

test('a checkout of the official package is the same request', async () => {
  await using started = await startOperations()
  await started.open({ saveCard: true })
  await started.official.checkout.sessions.create(
    {
      mode: 'payment',
      client_reference_id: paymentId,
      metadata: { payment_id: paymentId },
      payment_intent_data: {
        metadata: { payment_id: paymentId },
        setup_future_usage: 'off_session',
      },
      customer_creation: 'always',
      line_items: [
        {
          quantity: 1,
          price_data: {
            currency: 'usd',
            unit_amount: 4999,
            product_data: { name: `Payment ${paymentId.slice(-8)}` },
          },
        },
      ],
      success_url: returnUrl,
      cancel_url: returnUrl,
      expires_at: nowSeconds + oneHour,
    },
    { idempotencyKey: `checkout:${paymentId}:1` },
  )
  const [ours, official] = started.changes()
  assert.deepEqual(ours, official)
  for (const header of ['authorization', 'stripe-version', 'idempotency-key', 'content-type']) {
    const [own, theirs] = started.standIn.asked.map(({ request }) => request.headers[header])
    assert.equal(own?.toString().replace(/;.*/, ''), theirs)
  }
  assert.equal(started.standIn.checkouts(paymentId), 1, 'one key, one checkout')
})

test('a reply that is no open checkout of this payment is refused', async () => {
  const right = {
    id: 'cs_test_a1',
    url: 'https://checkout.stripe.com/c/pay/cs_test_a1',
    client_reference_id: paymentId,
    metadata: { payment_id: paymentId },
  }
  const ask = async (fields: object) => {
    await using api = await startApi({ '/v1/checkout/sessions': { ...right, ...fields } })
    await using started = await startOperations()
    return await started.open({}, { api_base: api.standIn.base })
  }
  assert.deepEqual(await ask({}), { checkoutReference: right.id, url: right.url })
  for (const wrong of [
    { id: 'pi_1' },
    { id: 1 },
    { url: null },
    { url: 'javascript:alert(1)' },
    { metadata: { payment_id: otherId }, client_reference_id: otherId },
    { metadata: {}, client_reference_id: null },
  ]) {
    const { code } = await failureOf(ask(wrong))
    assert.equal(code, 'provider_reply_invalid', JSON.stringify(wrong))
  }
})
