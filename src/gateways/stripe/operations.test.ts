import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from './fixtures/api.ts'
import { paymentId, otherId } from './fixtures/events.ts'
import {
  chargeRequest,
  failureOf,
  nowSeconds,
  refundRequest,
  returnUrl,
  sessionId,
  startOperations,
  stripePayment,
  type Started,
} from './fixtures/operations.ts'
import { stripe } from './index.ts'

const twoHours = 2 * 3600

test('a checkout is one request with exactly these fields, under its own key', async () => {
  await using started = await startOperations()
  const opened = await started.open()
  assert.deepEqual(opened, {
    checkoutReference: sessionId,
    url: `https://checkout.stripe.com/c/pay/${sessionId}`,
    expiresAt: new Date((nowSeconds + twoHours) * 1000),
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
        'line_items[0][price_data][product_data][name]': `Payment ${paymentId}`,
        success_url: returnUrl,
        cancel_url: returnUrl,
        expires_at: String(nowSeconds + twoHours),
      },
    ],
  ])
  const [asked] = started.standIn.asked
  assert.equal(asked?.request.headers['idempotency-key'], `checkout:${paymentId}:1`)
  assert.equal(asked?.request.headers['stripe-version'], '2026-10-28.endive')
  assert.equal(asked?.request.headers['stripe-account'], undefined)
  assert.deepEqual(started.standIn.faults, [])
})

test('what is paid for, who pays and the card that is kept are told where they are known', async () => {
  await using started = await startOperations()
  const customer = { email: ' olena@shop.example ', name: 'Olena' }
  const payment = stripePayment({ description: ` ${'ї'.repeat(300)}`, customer })
  await started.open({ payment, saveCard: true })
  assert.partialDeepStrictEqual(started.changes()[0]?.[1], {
    'line_items[0][price_data][product_data][name]': 'ї'.repeat(250),
    customer_email: 'olena@shop.example',
    'payment_intent_data[setup_future_usage]': 'off_session',
    customer_creation: 'always',
  })
  assert.deepEqual(started.standIn.faults, [])
})

test('an address that is none is left out', async () => {
  for (const email of ['olena', 'olena @shop.example', '', 7, null]) {
    await using started = await startOperations()
    await started.open({ payment: stripePayment({ customer: { email } }) })
    assert.equal(started.changes()[0]?.[1]['customer_email'], undefined)
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
    assert.deepEqual(started.standIn.faults, [])
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
            product_data: { name: `Payment ${paymentId}` },
          },
        },
      ],
      success_url: returnUrl,
      cancel_url: returnUrl,
      expires_at: nowSeconds + twoHours,
    },
    { idempotencyKey: `checkout:${paymentId}:1` },
  )
  const [ours, official] = started.changes()
  assert.deepEqual(ours, official)
  for (const header of ['authorization', 'stripe-version', 'idempotency-key', 'content-type']) {
    const [own, theirs] = started.standIn.asked.map(({ request }) => request.headers[header])
    assert.equal(own?.toString().replace(/;.*/, ''), theirs)
  }
  assert.deepEqual(started.standIn.faults, [])
  assert.equal(started.standIn.checkouts(paymentId), 1, 'one key, one checkout')
})

/** Every operation that changes something, with what it is asked under. */
const changing: readonly (readonly [
  asking: 'checkout' | 'refund' | 'charge' | 'close',
  ask: (started: Started, signal: AbortSignal) => Promise<unknown>,
])[] = [
  ['checkout', (started, signal) => started.open({}, { signal })],
  ['refund', (started, signal) => started.refund(refundRequest(100n), { signal })],
  ['charge', (started, signal) => started.charge({}, { signal })],
  [
    'close',
    (started, signal) =>
      started.closeCheckout(stripePayment({ checkoutReference: sessionId }), { signal }),
  ],
]

async function prepare(asking: string): Promise<Started> {
  const started = await startOperations()
  if (asking === 'refund' || asking === 'close') await started.open()
  if (asking === 'refund') started.standIn.pay(paymentId)
  return started
}

for (const [asking, ask] of changing) {
  test(`${asking}: what Stripe refused is told by its code, and all else is not known`, async () => {
    for (const [misbehaviour, code] of [
      ['refuse', 'provider_refused'],
      ['down', 'provider_unreachable'],
      ['cut', 'provider_unreachable'],
      ['garbled', 'provider_reply_invalid'],
      ['wrong', 'provider_reply_invalid'],
    ] as const) {
      await using started = await prepare(asking)
      const before = started.changes().length
      started.standIn.misbehave(asking, misbehaviour)
      const failure = await failureOf(ask(started, AbortSignal.timeout(5000)))
      assert.equal(failure.code, code, misbehaviour)
      assert.equal(failure.providerCode !== undefined, misbehaviour === 'refuse')
      assert.equal(started.changes().length, before + 1, 'asked once')
      assert.deepEqual(started.standIn.faults, [])
    }
  })

  test(`${asking}: it ends when its time is over, and is never asked again`, async () => {
    for (const misbehaviour of ['never', 'lost', 'late'] as const) {
      await using started = await prepare(asking)
      const before = started.changes().length
      started.standIn.misbehave(asking, misbehaviour)
      const reason = new Error('over')
      const abort = new AbortController()
      setTimeout(() => abort.abort(reason), 150)
      await assert.rejects(ask(started, abort.signal), (error) => error === reason)
      assert.equal(started.changes().length, before + 1)
    }
  })
}

test('conflicts and limits leave open what was done', async () => {
  const cases = [
    [400, { type: 'invalid_request_error', code: 'x' }, 'provider_refused', 'x'],
    [401, { type: 'invalid_request_error' }, 'provider_refused', 'invalid_request_error'],
    [402, { type: 'card_error', code: 'card_declined' }, 'provider_refused', 'card_declined'],
    [404, { type: 'invalid_request_error', code: 'gone' }, 'provider_refused', 'gone'],
    [400, { type: 'idempotency_error' }, 'provider_unreachable', 'idempotency_error'],
    [409, { type: 'idempotency_error', code: 'in_use' }, 'provider_unreachable', 'in_use'],
    [409, { type: 'invalid_request_error', code: 'x' }, 'provider_unreachable', 'x'],
    [424, { type: 'api_error', code: 'x' }, 'provider_unreachable', 'x'],
    [429, { type: 'invalid_request_error', code: 'x' }, 'provider_unreachable', 'x'],
    [500, { type: 'api_error' }, 'provider_unreachable', 'api_error'],
    [503, undefined, 'provider_unreachable', undefined],
    [403, undefined, 'provider_reply_invalid', undefined],
    [200, undefined, 'provider_reply_invalid', undefined],
  ] as const
  const { refund, chargeSavedCard } = stripe
  assert.ok(refund && chargeSavedCard)
  for (const [status, error, code, providerCode] of cases) {
    await using api = await startApi({
      '/v1/refunds': () => ({ status, body: { error } }),
      '/v1/payment_intents': () => ({ status, body: { error } }),
    })
    await using started = await startOperations()
    const context = started.context({ api_base: api.standIn.base })
    for (const ask of [
      () => refund(refundRequest(100n), context),
      () => chargeSavedCard(chargeRequest(), context),
    ]) {
      const failure = await failureOf(ask())
      assert.deepEqual(failure, { code, providerCode }, `${status} ${JSON.stringify(error)}`)
    }
    assert.equal(api.asked().length, 2)
  }
})

test('nobody listening, and a redirect to another host, are told as such', async () => {
  await using started = await startOperations()
  await using other = await startApi({})
  const location = `${other.standIn.base}/v1/checkout/sessions`
  await using moved = await startApi({
    '/v1/checkout/sessions': () => ({ status: 307, headers: { location }, body: {} }),
  })
  for (const api_base of ['http://127.0.0.1:9', moved.standIn.base]) {
    const failure = await failureOf(started.open({}, { api_base }))
    assert.equal(failure.code, 'provider_unreachable')
  }
  assert.deepEqual(other.asked(), [])
})

test('of several keys the first of the payment’s mode is used, and there must be one', async () => {
  await using api = await startApi({})
  await using started = await startOperations()
  const cases = [
    ['sk_test_1,sk_test_2', false, 'sk_test_1'],
    ['sk_live_1,sk_test_2,sk_test_3', false, 'sk_test_2'],
    ['sk_test_1,rk_live_2', true, 'rk_live_2'],
    ['sk_live_1,sk_test_2', null, 'sk_live_1'],
    ['sk_live_1', false, undefined],
    ['sk_test_1', true, undefined],
  ] as const
  for (const [secret_key, live, used] of cases) {
    const before = api.standIn.requests.length
    const payment = stripePayment({ live, merchantAccount: 'acct_1' })
    const settings = { secret_key, api_base: api.standIn.base }
    const { code } = await failureOf(started.open({ payment }, settings))
    assert.equal(code === 'gateway_not_configured', used === undefined)
    const asked = api.standIn.requests
      .slice(before)
      .map(({ headers }) => [headers.authorization, headers['stripe-account']])
    assert.deepEqual(asked, used === undefined ? [] : [[`Bearer ${used}`, 'acct_1']])
  }
  const elsewhere = stripePayment({ merchantAccount: 'another\nshop' })
  assert.equal((await failureOf(started.open({ payment: elsewhere }))).code, 'payment_invalid')
})

test('without a key nothing is asked', async () => {
  await using started = await startOperations()
  const without = { secret_key: '' }
  for (const ask of [
    () => started.open({}, without),
    () => started.poll(stripePayment(), without),
    () => started.refund(refundRequest(1n), without),
    () => started.charge({}, without),
    () => started.closeCheckout(stripePayment(), without),
  ]) {
    assert.equal((await failureOf(ask())).code, 'gateway_not_configured')
  }
  assert.deepEqual(started.standIn.asked, [])
  assert.equal(stripe.apiCredential, 'secret_key')
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
    { client_reference_id: otherId },
    { metadata: { payment_id: otherId }, client_reference_id: otherId },
    { metadata: {}, client_reference_id: null },
  ]) {
    const { code } = await failureOf(ask(wrong))
    assert.equal(code, 'provider_reply_invalid', JSON.stringify(wrong))
  }
})

test('money that Stripe counts otherwise is not taken', () => {
  const taken = ['USD', 'UAH', 'JPY', 'HUF', 'CLP', 'XOF', 'TWD']
  for (const currency of taken)
    assert.equal(stripe.moneyFault?.({ amount: 1n, currency }), undefined)
  for (const currency of ['ISK', 'UGX', 'MGA']) {
    assert.match(stripe.moneyFault?.({ amount: 100n, currency }) ?? '', /another unit/)
  }
  for (const currency of ['KWD', 'BHD', 'JOD', 'OMR', 'TND']) {
    assert.equal(stripe.moneyFault?.({ amount: 12_340n, currency }), undefined)
    assert.match(stripe.moneyFault?.({ amount: 12_345n, currency }) ?? '', /last digit of 0/)
  }
})

test('a checkout is closed once, and what is not open is left alone', async () => {
  await using started = await startOperations()
  await started.open()
  const payment = stripePayment({ checkoutReference: sessionId })
  assert.equal(await started.closeCheckout(payment), 'closed')
  assert.equal(await started.closeCheckout(payment), 'not_open')
  assert.deepEqual((await started.poll(payment)).standing, 'over')
  const unknown = stripePayment({ checkoutReference: 'cs_test_unknown' })
  assert.equal(await started.closeCheckout(unknown), 'not_open')
  assert.deepEqual(started.standIn.faults, [])
})

test('a checkout whose opening was not answered is found, and closed', async () => {
  await using started = await startOperations()
  assert.equal(await started.closeCheckout(stripePayment()), 'not_open')
  await started.open()
  assert.equal(await started.closeCheckout(stripePayment({ id: otherId })), 'not_open')
  assert.equal(await started.closeCheckout(stripePayment()), 'closed')
  const asked = started.standIn.asked.length
  assert.equal(
    await started.closeCheckout(stripePayment({ providerReference: 'in_1' })),
    'not_open',
  )
  assert.equal(started.standIn.asked.length, asked, 'nobody closes an invoice')
})

test('a paid checkout is not closed', async () => {
  await using started = await startOperations()
  await started.open()
  started.standIn.pay(paymentId)
  const payment = stripePayment({ checkoutReference: sessionId })
  assert.equal(await started.closeCheckout(payment), 'not_open')
  assert.equal((await started.poll(payment)).outcomes[0]?.type, 'payment')
})

test('the official package closes a checkout the same way', async () => {
  await using started = await startOperations()
  await started.open()
  const closed = await started.official.checkout.sessions.expire(sessionId)
  assert.equal(closed.status, 'expired')
  await assert.rejects(started.official.checkout.sessions.expire(sessionId), { statusCode: 400 })
  assert.deepEqual(started.standIn.faults, [])
})

test('the stand-in says what is wrong with a request', async () => {
  await using started = await startOperations()
  const fields = { payment_intent: 'pi_1', amount: 100 }
  await assert.rejects(started.official.refunds.create(fields, { idempotencyKey: 'refund:1' }))
  assert.deepEqual(started.standIn.faults, [
    'POST /v1/refunds: metadata[payment_id] is missing',
    'POST /v1/refunds: metadata[refund_id] is missing',
    'POST /v1/refunds: the idempotency key is refund:1',
  ])
})
