import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { quotaUsageSchema, usageResultSchema } from '../../src/wire/usage.ts'
import { startService, type Service } from './service.ts'

type Json = Record<string, unknown>

let service: Service
before(async () => {
  service = await startService()
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

async function sell(quotas: unknown): Promise<string> {
  const payable = { type: 'account', id: '7' }
  const terms = { gateway: 'fake', payable, amount: 0, currency: 'UAH', every: 'month', quotas }
  const { status, body } = await ask('POST', '/subscriptions', terms)
  assert.equal(status, 201, JSON.stringify(body))
  return String((body['subscription'] as Json)['id'])
}

test('usage is recorded, one or a list of it, and shown, in snake_case', async () => {
  const id = await sell({ api_calls: { limit: 10, percents: [80, 100] }, seats: { limit: null } })
  const one = { subscription_id: id, quota: 'api_calls', units: 8, key: 'a', enforce: true }
  const single = await ask('POST', '/usage', one)
  assert.deepEqual(single, {
    status: 200,
    body: { result: 'counted', used: 8, limit: 10, left: 2 },
  })
  const many = await ask('POST', '/usage', [
    one,
    { ...one, key: 'b' },
    { subscription_id: id, quota: 'seats', key: 'a' },
    { ...one, subscription_id: newUuid() },
  ])
  const data = many.body['data'] as Json[]
  for (const result of [single.body, ...data]) usageResultSchema.parse(result)
  assert.deepEqual(
    data.map(({ result }) => result),
    ['duplicate', 'refused', 'counted', 'unknown_quota'],
  )
  const shown = await ask('GET', `/subscriptions/${id}/usage`)
  const quotas = (shown.body['data'] as Json[]).map((quota) => quotaUsageSchema.parse(quota))
  assert.deepEqual(
    quotas.map(({ quota, used, limit, left, every }) => [quota, used, limit, left, every]),
    [
      ['api_calls', 8, 10, 2, null],
      ['seats', 1, null, null, null],
    ],
  )
  await ask('POST', `/subscriptions/${id}/change`, { quotas: { api_calls: { limit: 20 } } })
  assert.equal((await ask('POST', '/usage', { ...one, key: 'b' })).body['result'], 'counted')
})

test('a thousand records of long keys are one request', async () => {
  const id = await sell({ api_calls: { limit: null } })
  const records = Array.from({ length: 1000 }, (_, place) => ({
    subscription_id: id,
    quota: 'api_calls',
    units: 1,
    key: `${place}`.padStart(200, '0'),
    enforce: false,
  }))
  const { status, body } = await ask('POST', '/usage', records)
  assert.equal(status, 200)
  assert.deepEqual((body['data'] as Json[]).at(-1), {
    result: 'counted',
    used: 1000,
    limit: null,
    left: null,
  })
})

test('what is wrong is named, as the caller spells it', async () => {
  const good = { subscription_id: newUuid(), quota: 'api_calls', key: 'a' }
  const wrong = await ask('POST', '/usage', [good, { ...good, subscription_id: 'x' }])
  assert.deepEqual(
    [wrong.status, wrong.body],
    [
      422,
      {
        code: 'usage_invalid',
        message: '1.subscription_id must be a UUID',
        field: '1.subscription_id',
      },
    ],
  )
  const unknown = await ask('POST', '/usage', { ...good, subscriptionId: newUuid() })
  const meant =
    'unknown field "subscriptionId"; did you mean subscription_id? ' +
    'There are subscription_id, quota, units, key, enforce'
  assert.deepEqual([unknown.status, unknown.body['message']], [422, meant])
  assert.equal(unknown.body['field'], 'subscriptionId')
  const listed = await ask('POST', '/usage', [good, { ...good, count: 1 }])
  assert.equal(listed.body['field'], '1.count')
})
