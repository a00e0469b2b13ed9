import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../../../test/gateways/stripe/api.ts'
import { startOperations, paymentOf } from '../../../test/gateways/stripe/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'
import { stripe } from './index.ts'

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
    const payment = paymentOf({ live, merchantAccount: 'acct_1' })
    const settings = { secret_key, api_base: api.standIn.base }
    const { code } = await failureOf(started.open({ payment }, settings))
    assert.equal(code === 'gateway_not_configured', used === undefined)
    const asked = api.standIn.requests
      .slice(before)
      .map(({ headers }) => [headers.authorization, headers['stripe-account']])
    assert.deepEqual(asked, used === undefined ? [] : [[`Bearer ${used}`, 'acct_1']])
  }
  const elsewhere = paymentOf({ merchantAccount: 'another\nshop' })
  assert.equal((await failureOf(started.open({ payment: elsewhere }))).code, 'payment_invalid')
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

test('the stand-in says what is wrong with a request', async () => {
  await using started = await startOperations()
  const fields = { payment_intent: 'pi_1', amount: 100 }
  await assert.rejects(started.official.refunds.create(fields, { idempotencyKey: 'refund:1' }))
  assert.deepEqual(started.standIn.takeFaults(), [
    'POST /v1/refunds: metadata[payment_id] is missing',
    'POST /v1/refunds: metadata[refund_id] is missing',
    'POST /v1/refunds: the idempotency key is refund:1',
  ])
})
