import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Authenticate } from '../../src/billing/authenticate.ts'
import { openReview } from '../../src/database/reviews.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { createApp } from '../../src/http/app.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { inWords } from '../../src/payments/review-words.ts'
import { secret } from '../../src/kernel/secret.ts'
import { reviewSchema } from '../../src/wire/review.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'

type Json = Record<string, unknown>
const token = 'test-token-for-the-management-api'
const origin = 'https://pay.example.test'

onPostgres((engine) => {
  let billing: TestBilling
  let authenticate: Authenticate | undefined
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())

  const api = async (path: string, init: RequestInit = {}) => {
    const app = createApp(billing.core, {
      ...(authenticate === undefined ? { apiToken: [secret(token)] } : { authenticate }),
      maxBodyBytes: 1_000,
      webhookMiddleware: [],
      log: silentLog,
    })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const request = new Request(`${origin}/billing/api${path}`, { headers, ...init })
    const answer = await app.fetch(request)
    return { status: answer.status, body: (await answer.json()) as Json }
  }
  const handle = (id: string, body: unknown) =>
    api(`/reviews/${id}/handle`, { method: 'POST', body: JSON.stringify(body) })
  const paymentId = newUuid()
  const expected = { amount: 199_900n, currency: 'UAH' }
  let references = 0
  const open = async () => {
    const stated = { reference: `pi_${(references += 1)}`, amount: 199_000n, currency: 'UAH' }
    const finding = { gateway: 'fake', reason: 'amount_mismatch', paymentId, callId: null } as const
    const { id } = await billing.database.transaction(({ db }) =>
      openReview(db, { ...finding, stated, expected }, newUuid),
    )
    return { id, stated }
  }

  describe('GET /reviews', () => {
    test('lists what a person must look at, in words too, by state, reason, gateway and payment', async () => {
      const { id, stated } = await open()
      const { reference } = stated
      const query = `state=open&reason=amount_mismatch&gateway=fake&payment_id=${paymentId}`
      const { status, body } = await api(`/reviews?${query}&limit=1`)
      assert.equal(status, 200)
      const [review] = body['data'] as Json[]
      reviewSchema.parse(review)
      const { created_at: _, last_at: __, ...rest } = review ?? {}
      assert.deepEqual(rest, {
        id,
        state: 'open',
        reason: 'amount_mismatch',
        detail: null,
        in_words: inWords({ reason: 'amount_mismatch', detail: null, stated, expected }),
        gateway: 'fake',
        payment_id: paymentId,
        period_id: null,
        subscription_id: null,
        webhook_call_id: null,
        stated: { reference, amount: 199_000, currency: 'UAH' },
        expected: { amount: 199_900, currency: 'UAH' },
        times: 1,
        operator: null,
        note: null,
        version: 1,
        handled_at: null,
      })
      assert.deepEqual((await api(`/reviews/${id}`)).body, review)
    })
  })

  describe('POST /reviews/:id/handle', () => {
    test('handles one; the same again is the same, of two operators the second gets 409', async () => {
      const { id } = await open()
      const done = { note: 'refunded', operator: 'olena', version: 1 }
      const { status, body } = await handle(id, done)
      assert.equal(status, 200)
      assert.deepEqual(
        [body['state'], body['note'], body['operator'], body['version']],
        ['handled', 'refunded', 'olena', 2],
      )
      assert.deepEqual(await handle(id, done), { status, body })
      const second = await handle(id, { ...done, operator: 'taras' })
      assert.deepEqual([second.status, second.body['code']], [409, 'review_handled'])
      assert.match(String(second.body['message']), /was handled by olena already/)
    })

    test('refuses what says nothing, or too much', async () => {
      const { id } = await open()
      for (const [body, message] of [
        [{}, 'note is required'],
        [{ note: 'x', state: 'open' }, 'unknown field "state"; there are note, operator, version'],
        [{ note: 'x', version: '1' }, 'version must be a whole number from 1'],
        [{ note: 'x', operator: 'service' }, 'operator must be the name of a person'],
      ] as const) {
        const answer = await handle(id, body)
        assert.deepEqual([answer.status, answer.body['message']], [422, message])
      }
    })

    test('behind the guard of an app, whoever it names has handled it, whatever the body says', async () => {
      const { id } = await open()
      authenticate = () => ({ name: 'ops-1', role: 'operator' })
      try {
        const { body } = await handle(id, { note: 'refunded', operator: 'somebody else' })
        assert.equal(body['operator'], 'ops-1')
      } finally {
        authenticate = undefined
      }
    })
  })
})
