import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOf, startApi } from '../../../test/gateways/stripe/api.ts'
import { otherId, paymentId } from '../../../test/gateways/stripe/events.ts'
import {
  idPart,
  intentId,
  refundId,
  refundOf,
  startOperations,
  startPaid,
  paymentOf,
} from '../../../test/gateways/stripe/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'

test('a refund is one request with exactly these fields, under its own key', async () => {
  await using started = await startPaid()
  const reply = await started.refund(refundOf(1500n))
  assert.deepEqual(reply, { status: 'paid', reference: `re_${idPart}1` })
  assert.deepEqual(started.changes().slice(1), [
    [
      '/v1/refunds',
      {
        payment_intent: intentId,
        amount: '1500',
        'metadata[payment_id]': paymentId,
        'metadata[refund_id]': refundId,
      },
    ],
  ])
  const asked = started.standIn.asked.at(-1)
  assert.equal(asked?.request.headers['idempotency-key'], `refund:${refundId}`)
  assert.deepEqual(started.standIn.refunds(paymentId), [{ amount: 1500n, status: 'paid' }])
})

test('a refund of the official package is the same request', async () => {
  await using started = await startPaid()
  await started.refund(refundOf(1500n, { reason: 'duplicate' }))
  await started.official.refunds.create(
    {
      payment_intent: intentId,
      amount: 1500,
      reason: 'duplicate',
      metadata: { payment_id: paymentId, refund_id: refundId },
    },
    { idempotencyKey: `refund:${refundId}` },
  )
  const [, ours, official] = started.changes()
  assert.deepEqual(ours, official)
  assert.equal(started.standIn.refunds(paymentId).length, 1)
})

test('a reason is one of Stripe’s own, or a note', async () => {
  const cases = [
    ['requested_by_customer', { reason: 'requested_by_customer' }],
    [' fraudulent ', { reason: 'fraudulent' }],
    ['wrong size', { 'metadata[reason]': 'wrong size' }],
    ['€'.repeat(600), { 'metadata[reason]': '€'.repeat(500) }],
    ['  ', {}],
    [null, {}],
  ] as const
  for (const [reason, expected] of cases) {
    await using started = await startPaid()
    await started.refund(refundOf(1n, { reason }))
    const fields = started.changes().at(-1)?.[1] ?? {}
    const given = Object.entries(fields).filter(([name]) => name.includes('reason'))
    assert.deepEqual(Object.fromEntries(given), expected)
  }
})

test('a refund that waits is pending, and one that bounces at once has failed', async () => {
  await using started = await startPaid()
  started.standIn.refundsWait = true
  const reference = `re_${idPart}1`
  assert.deepEqual(await started.refund(refundOf(1n)), { status: 'pending', reference })
  for (const [status, more, expected] of [
    ['failed', { failure_reason: 'lost_or_stolen_card' }, { code: 'lost_or_stolen_card' }],
    ['canceled', {}, {}],
  ] as const) {
    const object = { id: 're_9', object: 'refund', payment_intent: intentId, amount: 1, status }
    const metadata = { payment_id: paymentId, refund_id: refundId }
    await using api = await startApi({ '/v1/refunds': { ...object, ...more, metadata } })
    const reply = await started.refund(refundOf(1n), { api_base: api.standIn.base })
    assert.deepEqual(reply, { status: 'failed', reference: 're_9', ...expected })
  }
})

test('a reply about another refund is refused', async () => {
  await using started = await startOperations()
  const metadata = { payment_id: paymentId, refund_id: refundId }
  const right = { id: 're_9', payment_intent: intentId, amount: 1, status: 'succeeded', metadata }
  for (const wrong of [
    { id: 'ch_9' },
    { payment_intent: 'pi_9' },
    { amount: 2 },
    { status: 'new' },
    { metadata: { ...metadata, refund_id: otherId } },
    { metadata: { ...metadata, payment_id: otherId } },
    { metadata: {} },
  ]) {
    await using api = await startApi({ '/v1/refunds': { ...right, ...wrong } })
    const refund = started.refund(refundOf(1n), { api_base: api.standIn.base })
    assert.equal((await failureOf(refund)).code, 'provider_reply_invalid', JSON.stringify(wrong))
  }
})

test('more than is left is refused by Stripe', async () => {
  await using started = await startPaid()
  const another = refundOf(4999n, {})
  await started.refund(refundOf(4000n))
  const refund = { ...another.refund, id: otherId }
  assert.deepEqual(await failureOf(started.refund({ ...another, refund })), {
    code: 'provider_refused',
    providerCode: 'invalid_request_error',
  })
  started.standIn.refundByHand(paymentId, 999n)
  const one = { ...another, refund: { ...refund, id: otherId.replace('6e02', '6e03'), amount: 1n } }
  assert.deepEqual(await failureOf(started.refund(one)), {
    code: 'provider_refused',
    providerCode: 'charge_already_refunded',
  })
})

test('what was paid is refunded by its intent, however it is known', async () => {
  const known = (fields: Parameters<typeof paymentOf>[0]) => {
    const { refund } = refundOf(1n)
    return { ...refundOf(1n), refund, payment: paymentOf({ status: 'paid', ...fields }) }
  }
  const paid = (...intents: readonly string[]) =>
    listOf(intents.map((id) => ({ id: `inpay_${id}`, payment: { payment_intent: id } })))
  const made = {
    id: 're_9',
    payment_intent: 'pi_1',
    amount: 1,
    status: 'succeeded',
    metadata: { payment_id: paymentId, refund_id: refundId },
  }
  const of = '/v1/invoice_payments?invoice=in_1&status=paid&limit=100'
  const sessionPath = '/v1/checkout/sessions/cs_1'
  const cases = [
    [{ providerReference: 'pi_1' }, {}, true],
    [{ providerReference: 'in_1' }, { [of]: paid('pi_1') }, true],
    [{ providerReference: 'in_1' }, { [of]: paid('pi_1', 'pi_2') }, false],
    [{ providerReference: 'in_1' }, { [of]: paid() }, false],
    [
      { checkoutReference: 'cs_1' },
      { [sessionPath]: { id: 'cs_1', payment_intent: 'pi_1' } },
      true,
    ],
    [{ checkoutReference: 'cs_1' }, { [sessionPath]: { id: 'cs_1', payment_intent: null } }, false],
    [{ checkoutReference: 'cs_1' }, {}, false],
    [{}, {}, false],
  ] as const
  await using started = await startOperations()
  for (const [fields, replies, isRefunded] of cases) {
    await using api = await startApi({ ...replies, '/v1/refunds': made })
    const refund = started.refund(known(fields), { api_base: api.standIn.base })
    if (isRefunded) assert.equal((await refund).reference, 're_9')
    else assert.equal((await failureOf(refund)).code, 'provider_refused')
    const posted = api.standIn.requests.filter(({ method }) => method === 'POST')
    assert.equal(posted.length, isRefunded ? 1 : 0, JSON.stringify(fields))
  }
})
