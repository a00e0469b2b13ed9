import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../../../test/gateways/stripe/api.ts'
import { chargeOf, refundOf, startOperations } from '../../../test/gateways/stripe/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'
import { stripe } from './index.ts'

test('conflicts and limits leave open what was done', async () => {
  const cases = [
    [400, { type: 'invalid_request_error', code: 'x' }, 'provider_refused', 'x'],
    [401, { type: 'invalid_request_error' }, 'provider_refused', 'invalid_request_error'],
    [402, { type: 'invalid_request_error', code: 'x' }, 'provider_refused', 'x'],
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
      () => refund(refundOf(100n), context),
      () => chargeSavedCard(chargeOf(null), context),
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
