import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days, hours, seconds } from '../../kernel/duration.ts'
import { listOf } from '../../../test/gateways/stripe/api.ts'
import { paymentId, session, type Fields } from '../../../test/gateways/stripe/events.ts'
import {
  idPart,
  monthly,
  now,
  nowSeconds,
  paymentOf,
  returnUrl,
  sessionId,
  startOperations,
  startSubscribed,
  subscriptionId,
} from '../../../test/gateways/stripe/operations.ts'
import { payments, pollOf } from '../../../test/gateways/stripe/polling.ts'
import { failureOf, thrownBy } from '../../../test/providers/kit.ts'

const known = paymentOf({ checkoutReference: sessionId })
const trialEndsAt = new Date(now.getTime() + days(7))
const trial = { every: { unit: 'week', count: 2 }, trialEndsAt, timeZone: 'UTC' } as const

const paid = {
  type: 'payment',
  status: 'paid',
  payment: { id: paymentId },
  amount: 4999n,
  currency: 'USD',
  live: false,
  checkoutReference: sessionId,
  providerReference: `in_${idPart}1`,
  subscriptionReference: subscriptionId,
} as const

test('a checkout that begins a subscription is one request with exactly these fields', async () => {
  await using started = await startOperations()
  await started.open({ recurring: monthly, saveCard: true })
  assert.deepEqual(started.changes(), [
    [
      '/v1/checkout/sessions',
      {
        mode: 'subscription',
        client_reference_id: paymentId,
        'metadata[payment_id]': paymentId,
        'subscription_data[metadata][payment_id]': paymentId,
        'subscription_data[billing_mode][type]': 'flexible',
        'line_items[0][quantity]': '1',
        'line_items[0][price_data][currency]': 'usd',
        'line_items[0][price_data][unit_amount]': '4999',
        'line_items[0][price_data][product_data][name]': `Payment ${paymentId.slice(-8)}`,
        'line_items[0][price_data][recurring][interval]': 'month',
        'line_items[0][price_data][recurring][interval_count]': '1',
        success_url: returnUrl,
        cancel_url: returnUrl,
        expires_at: String(nowSeconds + 3600),
      },
    ],
  ])
  const [asked] = started.standIn.asked
  assert.equal(asked?.request.headers['idempotency-key'], `checkout:${paymentId}:1`)
})

test('a trial ends when it is to end, and not before 48 hours are over', async () => {
  await using started = await startOperations()
  await started.open({ recurring: trial })
  assert.partialDeepStrictEqual(started.changes()[0]?.[1], {
    'line_items[0][price_data][recurring][interval]': 'week',
    'line_items[0][price_data][recurring][interval_count]': '2',
    'subscription_data[trial_end]': String(nowSeconds + 7 * 86_400),
  })
  for (const ahead of [-days(1), 0, hours(48)]) {
    const recurring = { ...trial, trialEndsAt: new Date(now.getTime() + ahead) }
    const error = await thrownBy(started.open({ recurring }))
    assert.equal(error.code, 'provider_refused')
    assert.match(error.message, /48 hours/)
  }
  assert.equal(started.changes().length, 1)
  await using later = await startOperations()
  const longer = new Date(now.getTime() + hours(48) + seconds(0.5))
  await later.open({ recurring: { ...trial, trialEndsAt: longer } })
  const form = later.changes()[0]?.[1]
  assert.equal(form?.['subscription_data[trial_end]'], String(nowSeconds + 48 * 3600 + 1))
})

test('its poll says what its callbacks say: open, paid, with the first invoice', async () => {
  await using started = await startOperations()
  await started.open({ recurring: monthly })
  assert.equal((await started.poll(known)).standing, 'open')
  started.standIn.decline(paymentId)
  assert.equal((await started.poll(known)).standing, 'open')
  started.standIn.pay(paymentId)
  assert.deepEqual(await started.poll(known), {
    outcomes: [{ ...paid, period: { startsAt: now, endsAt: new Date('2026-12-20T12:00:00Z') } }],
    standing: 'paid',
    listsRefunds: true,
  })
})

test('a trial’s checkout takes nothing, and pays a payment of nothing', async () => {
  await using started = await startSubscribed(trial)
  const reply = await started.poll(known)
  assert.deepEqual(reply.outcomes, [{ ...paid, amount: 0n }])
  assert.equal(reply.standing, 'paid')
})

test('one whose opening was not answered is found, and closed', async () => {
  await using started = await startOperations()
  started.standIn.misbehave('checkout', 'cut')
  const code = (await failureOf(started.open({ recurring: monthly }))).code
  assert.equal(code, 'provider_unreachable')
  assert.equal((await started.poll()).checkout?.checkoutReference, sessionId)
  assert.equal(await started.closeCheckout(paymentOf()), 'closed')
  assert.equal((await started.poll(known)).standing, 'unpaid')
})

test('asked for twice it is one checkout, and a paid one is not closed', async () => {
  await using started = await startOperations()
  await started.open({ recurring: monthly })
  await started.open({ recurring: monthly })
  assert.equal(started.standIn.checkouts(paymentId), 1)
  started.standIn.pay(paymentId)
  assert.equal(await started.closeCheckout(known), 'not_open')
})

test('a renewal is polled by its invoice', async () => {
  await using started = await startSubscribed()
  const { lives } = started.standIn
  const managed = lives.of(paymentId)
  lives.renew(managed, { declined: 'insufficient_funds' })
  const renewal = paymentOf({ providerReference: `in_${idPart}2` })
  const failed = await started.poll(renewal)
  assert.equal(failed.standing, 'open')
  assert.partialDeepStrictEqual(failed.outcomes, [
    { status: 'failed', declineCode: 'insufficient_funds', renews: { id: paymentId } },
  ])
  lives.retry(managed, 'paid')
  assert.partialDeepStrictEqual(await started.poll(renewal), {
    outcomes: [{ status: 'paid', period: { startsAt: new Date('2026-12-20T12:00:00Z') } }],
    standing: 'paid',
    listsRefunds: true,
  })
})

test('what a slow method has not paid in time is canceled once its invoice is void', async () => {
  const unpaid: Fields = {
    ...session({ mode: 'subscription', payment_status: 'unpaid', payment_intent: null }),
    id: sessionId,
    invoice: 'in_1',
    subscription: 'sub_1',
  }
  for (const [status, standing, said] of [
    ['open', 'undecided', { reason: 'no_outcome' }],
    ['void', 'unpaid', { status: 'canceled' }],
  ] as const) {
    const reply = await pollOf(
      {
        [`/v1/checkout/sessions/${sessionId}?expand[]=payment_intent`]: unpaid,
        '/v1/invoices/in_1': { id: 'in_1', object: 'invoice', status },
        '/v1/invoice_payments?invoice=in_1&status=paid&limit=100': payments(),
        '/v1/refunds?payment_intent=pi_1&limit=100': listOf([]),
      },
      { checkoutReference: sessionId },
    )
    assert.equal(reply.standing, standing)
    assert.partialDeepStrictEqual(reply.outcomes, [said])
  }
})
