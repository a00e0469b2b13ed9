import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Authenticate } from '../../src/billing/authenticate.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { createApp, type AppOptions } from '../../src/http/app.ts'
import { listen, type HttpServer } from '../../src/http/serve.ts'
import { secret } from '../../src/kernel/secret.ts'
import { hashOf, newToken } from '../../src/operators/tokens.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase, postgres } from '../support/databases.ts'
import { handClock } from '../support/hand-clock.ts'
import { tableTexts } from '../support/table-texts.ts'
import { until } from '../support/until.ts'
import { apiToken, capturedLog, maxBodyBytes, origin } from './service.ts'

const readToken = 'token-that-only-reads-here'
const former = { api: 'token-that-the-new-one-replaces', read: 'reading-token-before-the-new-one' }
const wireOrder = {
  gateway: 'fake',
  amount: 1999,
  currency: 'USD',
  payable: { type: 'order', id: '7' },
}
const changing = { method: 'POST', body: JSON.stringify(wireOrder) }
/** A removed token works for two seconds at most. */
const forgotten = 2_100

interface Asked {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

function serving(core: BillingCore, options: Partial<AppOptions> = {}) {
  const { log, logged } = capturedLog()
  const app = createApp(core, {
    apiToken: [secret(apiToken), secret(former.api)],
    readToken: [secret(readToken), secret(former.read)],
    operatorTokens: true,
    maxBodyBytes,
    webhookMiddleware: [],
    log,
    ...options,
  })
  const answered: string[] = []
  const ask = async (path: string, authorization?: string, init: RequestInit = {}) => {
    const headers = authorization === undefined ? {} : { authorization }
    const answer = await app.request(`${origin}/billing/api${path}`, { headers, ...init })
    const text = await answer.text()
    answered.push(text, JSON.stringify([...answer.headers]))
    return { status: answer.status, text, headers: answer.headers } satisfies Asked
  }
  return { app, log, logged, answered, ask }
}

/** The core, counting how often it is asked whose a token is. */
function counting(core: BillingCore) {
  const asked: string[] = []
  const find: BillingCore['operators']['find'] = (token) => {
    asked.push(token)
    return core.operators.find(token)
  }
  return { asked, core: { ...core, operators: { ...core.operators, find } } }
}

const recordedBy = async (core: BillingCore) => (await core.operators.actions({ limit: 100 })).data
/** A request is answered before its outcome is recorded, if that takes long. */
const endedBy = async (core: BillingCore) => {
  const hasEnded = async () => (await recordedBy(core)).every(({ outcome }) => outcome !== null)
  await until(hasEnded, { what: 'all outcomes are recorded' })
  return recordedBy(core)
}

onAnyDatabase((engine) => {
  describe('operators’ tokens at the management API', () => {
    let billing: TestBilling
    let service: ReturnType<typeof serving>
    let operator: string
    let viewer: string
    before(async () => {
      billing = await openBilling(engine, { url: origin })
      service = serving(billing.core)
      const { operators } = billing.core
      operator = (await operators.add({ name: 'olena', role: 'operator' })).token
      viewer = (await operators.add({ name: 'taras', role: 'viewer' })).token
    })
    after(() => billing.close())

    test('an operator does all, a viewer reads, as the tokens of the settings do', async () => {
      for (const [token, read, changed] of [
        [apiToken, 200, 201],
        [readToken, 200, 403],
        [former.api, 200, 201],
        [former.read, 200, 403],
        [operator, 200, 201],
        [viewer, 200, 403],
      ] as const) {
        const before = (await billing.core.payments.list({ limit: 100 })).data.length
        assert.equal((await service.ask('/payments', `Bearer ${token}`)).status, read)
        const head = await service.ask('/payments', `bearer ${token}`, { method: 'HEAD' })
        assert.equal(head.status, read)
        const answer = await service.ask('/payments', `Bearer ${token}`, changing)
        assert.equal(answer.status, changed)
        const now = (await billing.core.payments.list({ limit: 100 })).data.length
        assert.equal(now - before, changed === 201 ? 1 : 0)
      }
    })

    test('a viewer changes nothing by any method, not even where there is no route', async () => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        for (const path of ['/payments', '/endpoints/x', '/nope']) {
          const { status, text } = await service.ask(path, `Bearer ${viewer}`, { method })
          assert.deepEqual([status, text], [403, '{"message":"this token may only read"}'])
        }
      }
    })

    test('each wrong token by itself answers 401 with the same words', async () => {
      const last = operator.endsWith('A') ? 'B' : 'A'
      const wrong: Readonly<Record<string, string | undefined>> = {
        none: undefined,
        empty: 'Bearer ',
        'one that nobody has': `Bearer ${newToken()}`,
        'another last character': `Bearer ${operator.slice(0, -1)}${last}`,
        'more behind it': `Bearer ${operator}A`,
        'without its prefix': `Bearer ${operator.slice(4)}`,
        'its prefix in capitals': `Bearer QOP_${operator.slice(4)}`,
        'another scheme': `Basic ${operator}`,
        bare: operator,
        'its hash in hex': `Bearer ${hashOf(operator).toString('hex')}`,
        'its hash as a token': `Bearer qop_${hashOf(operator).toString('base64url')}`,
        'the name': 'Bearer olena',
      }
      for (const [what, authorization] of Object.entries(wrong)) {
        // Each in a service of its own: the limit of wrong ones is not what is tested.
        const { ask } = serving(billing.core)
        const answer = await ask('/payments', authorization)
        assert.equal(answer.status, 401, what)
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
        assert.equal(answer.text, '{"message":"the bearer token is missing or wrong"}')
      }
    })

    test('after two seconds a removed token and an expired one are wrong', async (t) => {
      const clock = handClock(t)
      const { operators } = billing.core
      const added = async (name: string) => (await operators.add({ name, role: 'operator' })).token
      const [removed, expired] = [await added('removed'), await added('expired')]
      const { ask } = serving(billing.core)
      for (const token of [removed, expired]) {
        assert.equal((await ask('/payments', `Bearer ${token}`)).status, 200)
      }
      await operators.remove('removed')
      await sql`update billing.operators set expires_at = statement_timestamp() - interval '1 second'
        where name = 'expired'`.execute(billing.database.db)
      clock.pass(forgotten)
      for (const token of [removed, expired]) {
        assert.equal((await ask('/payments', `Bearer ${token}`, changing)).status, 401)
        const { ask: fresh } = serving(billing.core)
        assert.equal((await fresh('/payments', `Bearer ${token}`)).status, 401)
      }
      assert.equal((await ask('/payments', `Bearer ${operator}`)).status, 200)
    })

    test('without tokens in the settings the API is there for operators alone', async () => {
      const { ask } = serving(billing.core, { apiToken: undefined, readToken: undefined })
      assert.equal((await ask('/payments', `Bearer ${operator}`, changing)).status, 201)
      assert.equal((await ask('/payments', `Bearer ${apiToken}`)).status, 401)
      const off = { apiToken: undefined, readToken: undefined, operatorTokens: false }
      const closed = serving(billing.core, off)
      assert.equal((await closed.ask('/payments', `Bearer ${operator}`)).status, 404)
    })

    test('an app’s own guard is asked alone; it may ask whose a token is', async () => {
      const nobody = serving(billing.core, { authenticate: () => undefined })
      assert.equal((await nobody.ask('/payments', `Bearer ${operator}`)).status, 403)
      const authenticate: Authenticate = ({ headers }) =>
        billing.core.operators.find(headers.get('authorization')?.slice('Bearer '.length) ?? '')
      const own = serving(billing.core, { authenticate })
      assert.equal((await own.ask('/payments', `Bearer ${operator}`, changing)).status, 201)
      assert.equal((await own.ask('/payments', `Bearer ${viewer}`, changing)).status, 403)
      assert.equal((await own.ask('/payments', `Bearer ${newToken()}`)).status, 403)
    })

    test('no token and no hash is in an answer, in the log, or in the database', async (t) => {
      const clock = handClock(t)
      const { operators } = billing.core
      const { token } = await operators.add({ name: 'canary', role: 'operator' })
      const all = serving(billing.core)
      for (const path of ['/payments', `/payments/${token}`, `/endpoints/${token}`]) {
        await all.ask(path, `Bearer ${token}`)
        await all.ask(path, `Bearer ${token}`, { method: 'DELETE' })
        await all.ask(`${path}/poll`, `Bearer ${token}`, { method: 'POST', body: token })
      }
      const noted = { ...wireOrder, amount: token }
      await all.ask('/payments', `Bearer ${token}`, { method: 'POST', body: JSON.stringify(noted) })
      await all.ask('/payments', `Bearer ${token}x`)
      await operators.remove('canary')
      clock.pass(forgotten)
      await all.ask('/payments', `Bearer ${token}`)
      const hash = hashOf(token)
      const written = [token, token.slice(4), ...inBytes(token), hash.toString('hex')]
      const hidden = [...written, hash.toString('base64url'), hash.toString('base64')]
      const seen = [
        ['the log', all.logged.join('')],
        ['the answers', all.answered.join('')],
        ...(await tableTexts(billing.database)),
      ] as const
      assert.ok(seen.length > 20)
      for (const [where, text] of seen) {
        for (const one of hidden) assert.ok(!text.includes(one), `${where}: ${one}`)
      }
      const known = await tableTexts(billing.database)
      const stored = known.get('operators') ?? ''
      assert.ok(stored.includes(hashOf(operator).toString('hex')), 'the look itself finds hashes')
      for (const text of known.values()) assert.ok(!text.includes(operator.slice(4)))
    })
  })
})

/** How a text looks in a column of bytes. */
function inBytes(text: string): readonly string[] {
  return [Buffer.from(text).toString('hex'), Buffer.from(text).toString('base64url')]
}

describe('strangers with tokens that look right', () => {
  let billing: TestBilling
  let counted: ReturnType<typeof counting>
  let server: HttpServer
  let token: string
  before(async () => {
    billing = await openBilling(postgres)
    counted = counting(billing.core)
    const { app, log } = serving(counted.core)
    server = await listen(app, { host: '127.0.0.1', port: 0, log })
    token = (await billing.core.operators.add({ name: 'olena', role: 'viewer' })).token
  })
  after(async () => {
    await server.close(0)
    await billing.close()
  })

  const ask = (sent: string, localAddress: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${sent}` }
      const url = `${server.url}/billing/api/payments?limit=1`
      const outgoing = request(url, { headers, localAddress, agent: false }, (answer) => {
        answer.resume().once('end', () => resolve((answer satisfies IncomingMessage).statusCode))
      })
      outgoing.on('error', reject).end()
    })
  const many = (count: number, sent: () => string, address: string) =>
    Promise.all(Array.from({ length: count }, () => ask(sent(), address)))
  const tallied = (statuses: readonly (number | undefined)[]) =>
    Object.fromEntries([...Map.groupBy(statuses, String)].map(([key, { length }]) => [key, length]))

  test('are answered 429 after ten in a minute, each sender by itself', async () => {
    const statuses = await many(50, newToken, '127.0.0.2')
    assert.deepEqual(tallied(statuses), { 401: 10, 429: 40 })
    assert.equal(await ask(newToken(), '127.0.0.3'), 401, 'another sender may still try')
  })

  test('are counted together with those whose token looks like none', async () => {
    counted.asked.length = 0
    assert.deepEqual(tallied(await many(10, () => 'guess', '127.0.0.4')), { 401: 10 })
    assert.equal(counted.asked.length, 0)
    assert.equal(await ask(newToken(), '127.0.0.4'), 429)
  })

  test('keep no operator out who comes from the same address, as behind a proxy', async () => {
    const { token: fresh } = await billing.core.operators.add({ name: 'fresh', role: 'viewer' })
    await many(15, newToken, '127.0.0.8')
    assert.equal(await ask(newToken(), '127.0.0.8'), 429)
    assert.equal(await ask(fresh, '127.0.0.8'), 200)
  })

  test('do not keep an operator out who has been in, nor are many requests at once too many', async (t) => {
    const clock = handClock(t)
    counted.asked.length = 0
    assert.deepEqual(tallied(await many(40, () => token, '127.0.0.5')), { 200: 40 })
    assert.equal(counted.asked.length, 1)
    await many(15, newToken, '127.0.0.5')
    assert.equal(await ask(newToken(), '127.0.0.5'), 429)
    assert.equal(await ask(token, '127.0.0.5'), 200)
    clock.pass(forgotten)
    counted.asked.length = 0
    assert.equal(await ask(token, '127.0.0.5'), 200)
    assert.deepEqual(counted.asked, [token], 'it was looked at anew')
  })

  test('are not operators with right tokens: however many of one address, none is counted', async () => {
    const { operators } = billing.core
    for (let count = 0; count < 15; count += 1) {
      const { token: right } = await operators.add({ name: `ops-${count}`, role: 'viewer' })
      assert.equal(await ask(right, '127.0.0.7'), 200, `the ${count + 1}th`)
    }
    assert.deepEqual(tallied(await many(12, newToken, '127.0.0.7')), { 401: 10, 429: 2 })
  })

  test('with a token that was removed are strangers like all others', async (t) => {
    const clock = handClock(t)
    const { operators } = billing.core
    const { token: removed } = await operators.add({ name: 'gone', role: 'operator' })
    assert.equal(await ask(removed, '127.0.0.6'), 200)
    await operators.remove('gone')
    clock.pass(forgotten)
    for (let count = 0; count < 10; count += 1) {
      assert.equal(await ask(removed, '127.0.0.6'), 401)
    }
    assert.equal(await ask(removed, '127.0.0.6'), 429)
  })
})

describe('what is done over the management API is recorded', () => {
  let billing: TestBilling
  let token: string
  before(async () => {
    billing = await openBilling(postgres, { url: origin })
    token = (await billing.core.operators.add({ name: 'olena', role: 'operator' })).token
  })
  after(() => billing.close())
  const clear = () => sql`delete from billing.operator_actions`.execute(billing.database.db)

  test('one row a change, with who, what, to what, and the status', async () => {
    await clear()
    const { ask } = serving(billing.core)
    const { text } = await ask('/payments', `Bearer ${token}`, changing)
    const { id } = JSON.parse(text) as { id: string }
    await ask(`/payments/${id}/cancel`, `Bearer ${apiToken}`, { method: 'POST' })
    await ask(`/payments/${id}/refunds`, `Bearer ${token}`, { method: 'POST', body: '{' })
    await ask('/endpoints/no-such-one', `Bearer ${token}`, { method: 'DELETE' })
    const seen = (await endedBy(billing.core)).toReversed()
    const detail = (method: string, path: string) => ({ method, path })
    assert.deepEqual(
      seen.map((one) => [one.operator, one.via, one.action, one.subject, one.detail, one.outcome]),
      [
        ['olena', 'api', 'createPayment', null, detail('POST', '/payments'), '201'],
        ['api', 'api', 'cancelPayment', id, detail('POST', '/payments/{id}/cancel'), '200'],
        ['olena', 'api', 'refundPayment', id, detail('POST', '/payments/{id}/refunds'), '400'],
        [
          'olena',
          'api',
          'deleteEndpoint',
          'no-such-one',
          detail('DELETE', '/endpoints/{id}'),
          '404',
        ],
      ],
    )
  })

  test('nothing is, of what reads, of what is refused at the door, and of usage', async () => {
    await clear()
    const { ask } = serving(billing.core)
    await ask('/payments', `Bearer ${token}`)
    await ask('/payments', `Bearer ${token}`, { method: 'HEAD' })
    await ask('/payments', `Bearer ${readToken}`, changing)
    await ask('/payments', `Bearer ${newToken()}`, changing)
    await ask('/payments', `Bearer ${token}`, { method: 'PUT' })
    await ask('/nope', `Bearer ${token}`, { method: 'POST' })
    await ask('/usage', `Bearer ${token}`, { method: 'POST', body: '{}' })
    assert.deepEqual(await recordedBy(billing.core), [])
  })

  test('nothing of a body, a query or a path that is no id is kept', async () => {
    await clear()
    const { ask } = serving(billing.core)
    const init = { method: 'POST', body: JSON.stringify({ ...wireOrder, description: 'Canary1' }) }
    await ask('/payments?secret=Canary2', `Bearer ${token}`, init)
    for (const id of ['Canary3', '%00', '%EF%BF%BD', 'a%20b', 'C'.repeat(3000)]) {
      await ask(`/payments/${id}/poll`, `Bearer ${token}`, { method: 'POST' })
    }
    const seen = await endedBy(billing.core)
    assert.equal(seen.length, 6)
    assert.doesNotMatch(JSON.stringify(seen), /Canary|CCC/)
    assert.ok(seen.every(({ subject }) => subject === null))
  })

  test('by the name that an app’s own guard says, whatever it is', async () => {
    const names = [
      ['ops-1', 'ops-1'],
      ['Олена Коваль', 'Олена Коваль'],
      ['a\u0000b\n', 'a\u{fffd}b\u{fffd}'],
      ['\ud83d', '\u{fffd}'],
      ['x'.repeat(300), 'x'.repeat(200)],
      [`${'x'.repeat(199)}😀`, `${'x'.repeat(199)}\u{fffd}`],
    ] as const
    for (const [said, kept] of names) {
      await clear()
      const authenticate = () => ({ name: said, role: 'operator' }) as const
      const { ask } = serving(billing.core, { authenticate })
      const answer = await ask('/payments', 'Bearer x', changing)
      assert.equal(answer.status, 201, answer.text)
      assert.deepEqual(
        (await recordedBy(billing.core)).map(({ operator }) => operator),
        [kept],
      )
    }
  })

  test('who handles a review with a token of its own has that name', async () => {
    const reviewed: unknown[] = []
    const reviews: BillingCore['reviews'] = {
      ...billing.core.reviews,
      handle: (id, input) => {
        reviewed.push(input.operator)
        return billing.core.reviews.handle(id, input)
      },
    }
    const { ask } = serving({ ...billing.core, reviews })
    const body = JSON.stringify({ note: 'seen', operator: 'somebody' })
    for (const sent of [token, apiToken]) {
      const init = { method: 'POST', body }
      await ask(`/reviews/${crypto.randomUUID()}/handle`, `Bearer ${sent}`, init)
    }
    assert.deepEqual(reviewed, ['olena', 'somebody'])
  })

  test('what cannot be recorded is not done; what was done is answered all the same', async () => {
    await clear()
    const gone = new Error('Connection terminated')
    const withOwn = (operators: Partial<BillingCore['operators']>) =>
      serving({ ...billing.core, operators: { ...billing.core.operators, ...operators } })
    const count = async () => (await billing.core.payments.list({ limit: 100 })).data.length
    const before = await count()
    const unwritten = withOwn({ recordAction: () => Promise.reject(gone) })
    assert.equal((await unwritten.ask('/payments', `Bearer ${token}`, changing)).status, 503)
    assert.equal(await count(), before)
    const unended = withOwn({ endAction: () => Promise.reject(gone) })
    assert.equal((await unended.ask('/payments', `Bearer ${token}`, changing)).status, 201)
    assert.equal(await count(), before + 1)
    assert.match(unended.logged.join(''), /what came of an action could not be recorded/)
    assert.deepEqual(
      (await recordedBy(billing.core)).map(({ outcome }) => outcome),
      [null],
    )
  })
})
