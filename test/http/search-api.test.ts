import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApp } from '../../src/http/app.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { secret } from '../../src/kernel/secret.ts'
import { foundSchema } from '../../src/wire/found.ts'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { origin } from './service.ts'

type Json = Record<string, unknown>
const readToken = 'token-that-only-reads-here'

onPostgres((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())

  /** As a viewer. */
  const ask = async (path: string, query: Readonly<Record<string, string>>) => {
    const app = createApp(billing.core, {
      apiToken: [secret('test-token-for-the-management-api')],
      readToken: [secret(readToken)],
      maxBodyBytes: 1_000,
      webhookMiddleware: [],
      log: silentLog,
    })
    const url = `${origin}/billing/api${path}?${new URLSearchParams(query).toString()}`
    const headers = { authorization: `Bearer ${readToken}` }
    const answer = await app.fetch(new Request(url, { headers }))
    return { status: answer.status, body: (await answer.json()) as Json }
  }

  test('GET /search finds what a viewer quotes, and says by what', async () => {
    const { id } = await newPayment(billing.core, { customer: { email: 'a+b@example.test' } })
    const { status, body } = await ask('/search', { q: ' A+b@example.test' })
    assert.equal(status, 200)
    const { data, has_more: hasMore } = foundSchema.parse(body)
    assert.deepEqual(
      [data.map((hit) => [hit.kind, hit.id, hit.by]), hasMore],
      [[['payment', id, 'email']], false],
    )
    assert.deepEqual(await ask('/search', { q: 'nobody' }), {
      status: 200,
      body: { data: [], has_more: false },
    })
  })

  test('GET /search/webhook-calls looks inside payloads, and says how far it came', async () => {
    const { id } = await newPayment(billing.core)
    await sendFake(billing.core, id, 'success')
    const text = `"payment_id":"${id}"`
    const { status, body } = await ask('/search/webhook-calls', { text })
    assert.equal(status, 200)
    const calls = body['data'] as readonly Json[]
    assert.deepEqual(
      calls.map(({ gateway }) => gateway),
      ['fake'],
    )
    assert.equal(body['next_cursor'], null)
    assert.match(String(body['looked_back_to']), /^\d{4}-\d\d-\d\dT/)
    const from = '2026-01-02T03:04:05+02:00'
    const until = '2026-01-03T00:00:00Z'
    const before = await ask('/search/webhook-calls', { text, from, until })
    assert.deepEqual(before.body, {
      data: [],
      next_cursor: null,
      looked_back_to: '2026-01-02T01:04:05.000Z',
    })
  })

  test('what cannot be asked is refused with a sentence', async () => {
    const refused = async (path: string, query: Readonly<Record<string, string>>) => {
      const { status, body } = await ask(path, query)
      assert.equal(status, 400, JSON.stringify([query, body]))
      return String(body['message'])
    }
    assert.match(await refused('/search', {}), /^q is required/)
    for (const q of ['', 'a\0b', 'x'.repeat(10_240)]) {
      assert.match(await refused('/search', { q }), /must be text of 1 to 500 characters/)
    }
    assert.equal(await refused('/search', { q: ' ' }), 'q must not be blank')
    const calls = '/search/webhook-calls'
    assert.match(await refused(calls, { text: '' }), /^text must be text/)
    assert.match(await refused(calls, { text: 'x', from: 'yesterday' }), /^from must be a time/)
    assert.match(await refused(calls, { text: 'x', cursor: 'x' }), /^cursor is not one/)
  })
})
