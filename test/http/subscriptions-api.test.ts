import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { scriptedGateway, type Script } from '../money/scripted.ts'
import { takesMoney } from '../subscriptions/subscribing.ts'
import { stating } from '../support/stating-gateway.ts'
import { startService, type Service } from './service.ts'

type Json = Record<string, unknown>

let service: Service
const script: Script = {}
before(async () => {
  takesMoney(script, { asked: [], debits: [] })
  service = await startService({
    billing: {
      extraGateways: [stating, scriptedGateway(script)],
      returnOrigins: ['https://shop.example'],
      plans: { pro: { amount: 19_900, currency: 'UAH', every: 'month', trial_days: 14 } },
    },
  })
})
after(() => service[Symbol.asyncDispose]())

async function ask(method: string, path: string, body?: unknown) {
  const answer = await service.api(path, {
    method,
    headers: { authorization: `Bearer test-token-for-the-management-api` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as Json }
}
const post = (path: string, body?: unknown) => ask('POST', path, body)
const terms = { gateway: 'scripted', amount: 4_999, currency: 'USD', every: 'month' }

test('a subscription is made, shown and told what to do, in snake_case', async () => {
  const payable = { type: 'account', id: crypto.randomUUID() }
  const made = await post('/subscriptions', {
    ...terms,
    payable,
    every: '3 months',
    grace_access: false,
    return_url: 'https://shop.example/thanks',
  })
  assert.equal(made.status, 201)
  const { subscription, payment } = made.body as { subscription: Json; payment: Json }
  assert.deepEqual(subscription['every'], { unit: 'month', count: 3 })
  assert.equal(subscription['grace_access'], false)
  assert.equal(payment['checkout_url'], 'https://provider.example/pay')
  assert.equal(payment['return_url'], 'https://shop.example/thanks')
  const id = String(subscription['id'])

  const shown = await ask('GET', `/subscriptions/${id}`)
  assert.equal((shown.body['periods'] as Json[]).length, 1)
  assert.equal((shown.body['payments'] as Json[])[0]?.['id'], payment['id'])
  assert.equal((await post(`/subscriptions/${id}/pay`)).body['id'], payment['id'])
  assert.deepEqual(
    (await post(`/subscriptions/${id}/change`, { amount: 9_999, metadata: { a: 1 } })).body[
      'metadata'
    ],
    { a: 1 },
  )
  assert.equal((await post(`/subscriptions/${id}/resume`)).status, 200)
  assert.equal((await post(`/subscriptions/${id}/pause`, { at: 'now' })).status, 422)
  const ended = await post(`/subscriptions/${id}/cancel`, { at: 'now' })
  assert.deepEqual([ended.body['status'], ended.body['end_reason']], ['canceled', 'requested'])
  const again = await post(`/subscriptions/${id}/cancel`)
  assert.deepEqual([again.status, again.body['code']], [409, 'subscription_ended'])
})

test('a plan of the settings is made by its name', async () => {
  const payable = { type: 'account', id: '8' }
  const made = await post('/subscriptions', { gateway: 'scripted', payable, plan: 'pro' })
  const { subscription, payment } = made.body as { subscription: Json; payment: unknown }
  assert.deepEqual(
    [subscription['status'], subscription['access'], payment],
    ['trialing', true, null],
  )
})

test('what is wrong is named as it was written', async () => {
  const payable = { type: 'account', id: '9' }
  for (const [body, status, message] of [
    [{ ...terms, payable, every: 'fortnight' }, 422, /^every must be day, week, month or year/],
    [{ ...terms, payable, trial_days: -1 }, 422, /^trial_days must be a whole number of days/],
    [{ ...terms, payable, trialDays: 1 }, 422, /^unknown field "trialDays"/],
    [
      { ...terms, payable, trial_days: 1, trial_ends_at: '2099-01-01T00:00:00Z' },
      422,
      /^trial_ends_at is given/,
    ],
    [
      { gateway: 'scripted', payable, plan: 'gold' },
      422,
      /^plan "gold" is unknown; there are pro$/,
    ],
    [{ ...terms, payable, gateway: 'paddle' }, 422, /^Paddle cannot charge saved cards/],
    [{ ...terms, payable, payment_method_id: crypto.randomUUID() }, 422, /^payment_method_id /],
    ['a text', 422, /must be a JSON object/],
  ] as const) {
    const refused = await post('/subscriptions', body)
    assert.equal(refused.status, status, JSON.stringify(refused.body))
    assert.match(String(refused.body['message']), message)
  }
  const id = crypto.randomUUID()
  const payableId = { ...terms, payable, id }
  await post('/subscriptions', payableId)
  const other = await post('/subscriptions', { ...payableId, amount: 1 })
  assert.deepEqual([other.status, other.body['code']], [409, 'subscription_exists'])
})

test('charges are held and released, and `/readyz` says so without being unready', async () => {
  const held = await post('/subscriptions/hold', { reason: 'wrong prices' })
  assert.deepEqual(held.body, { held: 'wrong prices' })
  const ready = await fetch(`${service.listening.url}/readyz`)
  const { ready: isReady, warnings } = (await ready.json()) as {
    ready: boolean
    warnings: string[]
  }
  assert.equal(isReady, true)
  assert.deepEqual(warnings, ['no period is charged until it is released'])
  assert.deepEqual((await post('/subscriptions/release')).body, { held: null })
  for (const body of [{}, undefined]) {
    const refused = await post('/subscriptions/hold', body)
    assert.equal(refused.status, 422)
    assert.match(String(refused.body['message']), /^reason /)
  }
})
