import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { startSpec, type SpecService } from './spec-service.ts'

// 1 (fails closed): webhook-intake.test.ts and the conformance suite.

const secret = 'whsec_of_the_authentication_table'
const rotated = 'whsec_of_the_time_before_that_one'
const body = '{"type":"a"}'

function signature(parts: { readonly by?: string; readonly over?: string; readonly at?: number }) {
  const { by = secret, over = body, at = Math.floor(Date.now() / 1000) } = parts
  return `t=${at},v1=${createHmac('sha256', by).update(`${at}.${over}`).digest('hex')}`
}

onAnyDatabase((engine) => {
  let service: SpecService
  before(async () => {
    const config = `export default { gateways: { stripe: { signing_secret: 'whsec_of_the_file' } } }`
    service = await startSpec(engine, { config, env: { STRIPE_SIGNING_SECRET: secret } })
  })
  after(() => service[Symbol.asyncDispose]())
  const statusOf = async (header: string, text = body) =>
    (await service.post('alpha', text, { 'alpha-signature': header })).status

  describe('Authentication', () => {
    test('the route carries no session and no CSRF protection: cookies and origins are no matter', async () => {
      const headers = {
        origin: 'https://evil.example',
        cookie: 'a=b',
        referer: 'https://x.example',
      }
      const reply = await service.post('alpha', body, {
        ...headers,
        'alpha-signature': signature({}),
      })
      assert.equal(reply.status, 200)
      assert.equal(reply.headers.get('set-cookie'), null)
      assert.equal((await service.post('alpha', body, headers)).status, 403)
    })

    test('2: whoever holds the secret can produce a valid request; nobody else can', async () => {
      assert.equal(await statusOf(signature({})), 200)
      for (const by of ['whsec_of_the_file', `${secret} `, secret.slice(0, -1), '', 'undefined']) {
        assert.equal(await statusOf(signature({ by })), 403, by)
      }
    })

    test('Alpha: HMAC-SHA256 over <t>.<raw_body>, hex, with a fresh timestamp', async () => {
      const at = Math.floor(Date.now() / 1000)
      const over = (text: string) => createHmac('sha256', secret).update(text).digest('hex')
      assert.equal(await statusOf(`t=${at},v1=${over(`${at}.${body}`)}`), 200)
      for (const text of [body, `${at}:${body}`, `${at}${body}`, `${at}.${body}\n`, `${at}.`]) {
        assert.equal(await statusOf(`t=${at},v1=${over(text)}`), 403, text)
      }
      const base64 = createHmac('sha256', secret).update(`${at}.${body}`).digest('base64')
      assert.equal(await statusOf(`t=${at},v1=${base64}`), 403)
      assert.equal(await statusOf(`t=${at};v1=${over(`${at}.${body}`)}`), 403)
      assert.equal(await statusOf(`ts=${at};h1=${over(`${at}:${body}`)}`), 403)
      assert.equal(await statusOf(signature({}), `${body} `), 403)
      assert.equal(await statusOf(signature({ at: at - 400 })), 403)
    })
  })
})

onPostgres((engine) => {
  test('98: inside a rotation both secrets count; the old one no more once it is gone', async () => {
    await using service = await startSpec(engine, {
      env: { STRIPE_SIGNING_SECRET: '', ALPHA_SIGNING_SECRET: `${secret},${rotated}` },
    })
    for (const [by, status] of [
      [secret, 200],
      [rotated, 200],
      [`${secret},${rotated}`, 403],
    ] as const) {
      const headers = { 'stripe-signature': signature({ by }) }
      assert.equal((await service.post('stripe', body, headers)).status, status, by)
    }
  })
})
