import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { onBothDatabases } from '../support/databases.ts'
import type { TestBilling } from '../../src/testing/index.ts'
import { allCalls, openRecorded, sendFake } from '../support/billing.ts'
import { sendStripe, sessionEvent, stripeOptions } from '../support/stripe-callbacks.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { capturedLog } from '../support/captured-log.ts'

onBothDatabases((engine) => {
  let opened: TestBilling
  const log = capturedLog()

  before(async () => {
    opened = await openRecorded(engine, { ...stripeOptions, log: log.log })
  })
  after(() => opened.close())

  const stripePayment = () => opened.createPayment({ gateway: 'stripe' })
  const paid = (payment: Payment, object = {}) =>
    sendStripe(opened.billing, sessionEvent({ payment, object }))
  const declined = (payment: Payment) =>
    sendStripe(
      opened.billing,
      sessionEvent({ payment, type: 'checkout.session.async_payment_failed' }),
    )
  const expired = (payment: Payment) =>
    sendStripe(opened.billing, sessionEvent({ payment, type: 'checkout.session.expired' }))

  const eventsOf = (payment: Payment) => opened.events.about(payment).map((event) => event.type)
  const statusOf = async (payment: Payment) =>
    (await opened.billing.payments.get(payment.id))?.status
  const lastCallOf = async (payment: Payment) =>
    (await opened.billing.calls.list({ paymentId: payment.id })).data[0]

  async function after200(...answers: Promise<{ status: number; body: string }>[]) {
    for (const answer of answers) {
      const { status, body } = await answer
      assert.equal(status, 200)
      assert.equal(body, '{"message":"ok"}')
      await opened.idle({ withinMs: 60_000 })
    }
  }

  test('pending + valid paid callback -> paid, PaymentSucceeded once', async () => {
    const payment = await stripePayment()
    await after200(paid(payment))
    assert.equal(await statusOf(payment), 'paid')
    assert.deepEqual(eventsOf(payment), ['PaymentSucceeded'])
    const details = await opened.billing.payments.get(payment.id)
    assert.deepEqual(
      details?.transitions.map(({ from, to, cause }) => [from, to, cause]),
      [['pending', 'paid', 'call']],
    )
    assert.equal(details?.providerReference, `pi_${payment.id.replaceAll('-', '')}`)
  })

  for (const [what, object] of [
    ['amount one unit less', { amount_total: 4998 }],
    ['another currency', { currency: 'uah' }],
  ] as const) {
    test(`pending + paid callback with ${what} -> pending, warned, Ignored, for review`, async () => {
      const payment = await stripePayment()
      await after200(paid(payment, object))
      assert.equal(await statusOf(payment), 'pending')
      assert.deepEqual(eventsOf(payment), [])
      const call = await lastCallOf(payment)
      assert.equal(call?.state, 'ignored')
      assert.equal(call?.needsReview, true)
      assert.deepEqual(call?.outcome, [
        { result: 'ignored', type: 'payment', reason: 'amount_mismatch' },
      ])
      const warnings = log.lines.filter((line) => line['call'] === call?.id && line['level'] === 40)
      assert.deepEqual(
        warnings.map((line) => line['msg']),
        ['paid webhook amount/currency mismatch'],
      )
    })
  }

  test('pending + refusal callback -> failed, PaymentFailed', async () => {
    const payment = await opened.createPayment()
    await after200(sendFake(opened.billing, payment.id, 'failure'))
    assert.equal(await statusOf(payment), 'failed')
    assert.deepEqual(eventsOf(payment), ['PaymentFailed'])
  })

  test('pending + expired checkout -> canceled, PaymentCanceled', async () => {
    const payment = await stripePayment()
    await after200(expired(payment))
    assert.equal(await statusOf(payment), 'canceled')
    assert.deepEqual(eventsOf(payment), ['PaymentCanceled'])
  })

  test('failed + valid paid callback -> paid, both events', async () => {
    const payment = await stripePayment()
    await after200(declined(payment))
    await after200(paid(payment))
    assert.equal(await statusOf(payment), 'paid')
    assert.deepEqual(eventsOf(payment), ['PaymentFailed', 'PaymentSucceeded'])
  })

  test('canceled + valid paid callback -> paid, both events', async () => {
    const payment = await stripePayment()
    await after200(expired(payment))
    await after200(paid(payment))
    assert.equal(await statusOf(payment), 'paid')
    assert.deepEqual(eventsOf(payment), ['PaymentCanceled', 'PaymentSucceeded'])
  })

  for (const [what, late] of [
    ['refusal', declined],
    ['expiry', expired],
  ] as const) {
    test(`paid + ${what} -> stays paid, ignored and logged, no event`, async () => {
      const payment = await stripePayment()
      await after200(paid(payment))
      await after200(late(payment))
      assert.equal(await statusOf(payment), 'paid')
      assert.deepEqual(eventsOf(payment), ['PaymentSucceeded'])
      const call = await lastCallOf(payment)
      assert.deepEqual(call?.outcome, [
        { result: 'ignored', type: 'payment', reason: 'already_paid' },
      ])
      assert.ok(log.lines.some((line) => line['call'] === call?.id && line['level'] === 40))
    })
  }

  test('a callback for an unknown payment is ignored; the job does not fail', async () => {
    const unknown = { id: '00000000-0000-4000-8000-000000000000', amount: 1n, currency: 'USD' }
    await after200(sendStripe(opened.billing, sessionEvent({ payment: unknown })))
    const call = (await allCalls(opened.billing)).at(-1)
    assert.equal(call?.state, 'ignored')
    assert.equal(call?.attempts, 0)
    assert.equal(call?.exception, null)
    assert.deepEqual(call?.outcome, [
      { result: 'ignored', type: 'payment', reason: 'unknown_payment', detail: 'paid' },
    ])
  })

  test('a reference that is no UUID is ignored, and answered 200', async () => {
    await after200(sendFake(opened.billing, '7C9E6679-7425-40DE-944B-E07FC1F90AE7\n', 'success'))
    const { data } = await opened.billing.calls.list({ gateway: 'fake', limit: 1 })
    assert.equal(data[0]?.state, 'ignored')
    const [result] = data[0]?.outcome ?? []
    assert.equal(result?.result === 'ignored' && result.reason, 'invalid_reference')
  })
})
