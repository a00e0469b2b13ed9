import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi, testKey } from '../../../test/gateways/stripe/api.ts'
import { event, intent, paymentId, type Fields } from '../../../test/gateways/stripe/events.ts'

const created = (fields: Fields = {}) => {
  const object = { id: 're_1', object: 'refund', payment_intent: 'pi_1', status: 'succeeded' }
  return event('refund.created', object, fields)
}
const path = '/v1/payment_intents/pi_1'
const ofIntent = [{ type: 'refund', payment: { providerReference: 'pi_1' }, status: 'paid' }]

test('Stripe is asked with the key, the pinned version and the event’s account', async () => {
  await using api = await startApi({ [path]: intent() })
  await api.interpret(created())
  await api.interpret(created({ account: 'acct_1' }))
  const [own, connected] = api.standIn.requests.filter(({ target }) => target === path)
  assert.equal(own?.method, 'GET')
  assert.equal(own?.headers.authorization, `Bearer ${testKey}`)
  assert.equal(own?.headers['stripe-version'], '2026-10-28.endive')
  assert.equal(own?.headers['stripe-account'], undefined)
  assert.equal(connected?.headers['stripe-account'], 'acct_1')
})

test('an event is looked up with a key of its mode, or with none', async () => {
  const cases = [
    ['sk_test_1', false, 'sk_test_1'],
    ['sk_test_1', true, undefined],
    ['rk_live_1', true, 'rk_live_1'],
    ['rk_live_1', false, undefined],
    ['sk_live_1,sk_test_1', false, 'sk_test_1'],
    ['sk_test_2,sk_test_1', false, 'sk_test_2'],
    ['sk_org_1', true, 'sk_org_1'],
    ['sk_org_1', false, 'sk_org_1'],
    ['sk_live_1', undefined, 'sk_live_1'],
  ] as const
  for (const [keys, livemode, used] of cases) {
    await using api = await startApi({ [path]: intent() }, keys)
    const found = (await api.interpret(created({ livemode }))).at(-1)
    const [request] = api.standIn.requests
    assert.equal(request?.headers.authorization, used && `Bearer ${used}`)
    const payment = used === undefined ? { providerReference: 'pi_1' } : { id: paymentId }
    assert.partialDeepStrictEqual(found, { type: 'refund', payment })
  }
})

test('a look-up that fails for a moment is repeated', async () => {
  let left = 1
  await using api = await startApi({
    [path]: () => (left-- > 0 ? { status: 500, body: {} } : { body: intent() }),
  })
  const [found] = await api.interpret(created())
  assert.partialDeepStrictEqual(found, { payment: { id: paymentId } })
  assert.deepEqual(api.asked().slice(0, 2), [path, path])
})

test('what Stripe does not know is not there, and that is an answer', async () => {
  await using api = await startApi({})
  assert.partialDeepStrictEqual(await api.interpret(created()), ofIntent)
})

test('a look-up that cannot be made fails the attempt, without the key in the error', async () => {
  const cases = [
    [401, { error: { code: 'api_key_expired' } }, 'provider_refused', /401 \(api_key_expired\)/],
    [403, {}, 'provider_refused', /GET \/v1\/payment_intents\/pi_1 with 403/],
    [503, {}, 'provider_unreachable', /with 503/],
    [200, 'null', 'provider_reply_invalid', /GET \/v1\/payment_intents\/pi_1/],
    [200, intent({ id: 'pi_2' }), 'provider_reply_invalid', /GET \/v1\/payment_intents\/pi_1/],
    [200, { error: { code: 'x' } }, 'provider_reply_invalid', /GET \/v1\/payment_intents\/pi_1/],
  ] as const
  for (const [status, body, code, message] of cases) {
    await using api = await startApi({ [path]: () => ({ status, body }) })
    await assert.rejects(api.interpret(created()), (error: Error & { code?: string }) => {
      assert.equal(error.code, code)
      assert.match(error.message, message)
      assert.doesNotMatch(`${error.message} ${error.stack}`, /sk_test_/)
      return true
    })
  }
})

test('a look-up ends when its time is over', async () => {
  await using api = await startApi({ [path]: () => 'hang' })
  await assert.rejects(api.interpret(created(), { signal: AbortSignal.timeout(50) }))
})
