import assert from 'node:assert/strict'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { test } from 'node:test'
import { startStandIn, type StandInReply } from '../../../test/support/stand-in.ts'
import { until } from '../../../test/support/until.ts'
import { isQuittanceError } from '../../kernel/errors.ts'
import { createProviderApi } from './provider-api.ts'

const key = 'sk_test_never_shown'
const apiOf = (base: string) =>
  createProviderApi({ title: 'Stripe', base, headers: { authorization: `Bearer ${key}` } })

async function answering(...replies: readonly (StandInReply | 'hang' | undefined)[]) {
  let asked = 0
  const standIn = await startStandIn(() => replies[Math.min(asked++, replies.length - 1)])
  return { ...standIn, api: apiOf(standIn.base), [Symbol.asyncDispose]: standIn.close }
}

async function failureOf(request: Promise<unknown>) {
  const error: unknown = await request.then(
    () => assert.fail('it should have failed'),
    (error: unknown) => error,
  )
  assert.ok(isQuittanceError(error), String(error))
  assert.doesNotMatch(`${error.message} ${JSON.stringify(error)} ${error.stack}`, /never_shown/)
  assert.equal(error.cause, undefined)
  return { code: error.code, message: error.message }
}

test('a reply is read with the source text of its numbers', async () => {
  await using provider = await answering({ body: '{"amount":1.10,"id":900719925474099312345}' })
  const reply = await provider.api.get('v1/things/1', { query: { 'expand[]': 'a b' } })
  assert.deepEqual(
    reply,
    new Map([
      ['amount', { number: '1.10' }],
      ['id', { number: '900719925474099312345' }],
    ]),
  )
  const [request] = provider.requests
  assert.equal(request?.method, 'GET')
  assert.equal(request?.target, '/v1/things/1?expand%5B%5D=a+b')
  assert.equal(request?.headers.authorization, `Bearer ${key}`)
})

test('paths go below a base that has a path of its own', async () => {
  await using provider = await answering({ body: {} })
  await apiOf(`${provider.base}/test/`).get('/v1/things')
  assert.equal(provider.requests[0]?.target, '/test/v1/things')
})

test('what the provider does not have is undefined', async () => {
  await using provider = await answering({ status: 404, body: {} })
  assert.equal(await provider.api.get('v1/things/1'), undefined)
  assert.equal(provider.requests.length, 1)
})

for (const status of [500, 502, 503, 429]) {
  test(`a GET that is answered ${status} is asked again`, async () => {
    await using provider = await answering({ status, body: {} }, { status, body: {} }, { body: 7 })
    assert.deepEqual(await provider.api.get('v1/things/1'), { number: '7' })
    assert.equal(provider.requests.length, 3)
  })
}

test('a GET that fails three times is given up, and says what was asked', async () => {
  await using provider = await answering({ status: 500, body: { error: { code: 'internal' } } })
  assert.deepEqual(await failureOf(provider.api.get('v1/things/1', { query: { token: 't_1' } })), {
    code: 'provider_unreachable',
    message: 'Stripe answered GET /v1/things/1 with 500 (internal)',
  })
  assert.equal(provider.requests.length, 3)
})

test('a POST is never asked again', async () => {
  await using provider = await answering({ status: 503, body: {} })
  const { code } = await failureOf(provider.api.post('v1/refunds', { form: { charge: 'ch_1' } }))
  assert.equal(code, 'provider_unreachable')
  assert.deepEqual(
    provider.requests.map(({ method, body, headers }) => [method, body, headers['content-type']]),
    [['POST', 'charge=ch_1', 'application/x-www-form-urlencoded;charset=UTF-8']],
  )
})

test('a POST can carry JSON', async () => {
  await using provider = await answering({ body: {} })
  await provider.api.post('api', { json: { transactionType: 'CHECK_STATUS' } })
  assert.equal(provider.requests[0]?.body, '{"transactionType":"CHECK_STATUS"}')
  assert.equal(provider.requests[0]?.headers['content-type'], 'application/json')
})

for (const [status, body, said] of [
  [401, { error: { type: 'invalid_request_error' } }, ' (invalid_request_error)'],
  [403, { errCode: 'FORBIDDEN', errText: 'x' }, ' (FORBIDDEN)'],
  [400, { err_code: 'x\n'.repeat(200) }, ` (${'x\ufffd'.repeat(49)}x…)`],
  [402, 'no JSON', ''],
  // Which of two names it is, nobody knows; and what is nested without end is not followed.
  [409, '{"errCode":"a","errCode":"b"}', ''],
  [422, `{"errCode":"a","b":${'['.repeat(500_000)}${']'.repeat(500_000)}}`, ''],
] as const) {
  test(`a refusal with ${status} is final, with the provider's own code`, async () => {
    await using provider = await answering({ status, body })
    assert.deepEqual(await failureOf(provider.api.get('v1/things/1')), {
      code: 'provider_refused',
      message: `Stripe answered GET /v1/things/1 with ${status}${said}`,
    })
    assert.equal(provider.requests.length, 1)
  })
}

test('a reply that is no JSON is told as such', async () => {
  await using provider = await answering({ body: '<html>' })
  assert.equal((await failureOf(provider.api.get('v1/things/1'))).code, 'provider_reply_invalid')
})

test('nobody listening is told as such', async () => {
  const provider = await answering({ body: {} })
  await provider.close()
  const { code, message } = await failureOf(provider.api.get('v1/things/1'))
  assert.equal(code, 'provider_unreachable')
  assert.equal(message, 'Stripe did not answer GET /v1/things/1: ECONNREFUSED')
})

test('a key that no header can carry is not shown', async () => {
  await using provider = await answering({ body: {} })
  const headers = { authorization: `Bearer ${key}\nx` }
  const api = createProviderApi({ title: 'Stripe', base: provider.base, headers })
  await assert.rejects(
    async () => api.get('v1/things/1'),
    (error: unknown) => {
      assert.doesNotMatch(String(error), /never_shown/)
      return true
    },
  )
})

test('a redirect is not followed: a credential goes to no other host', async () => {
  await using other = await answering({ body: {} })
  await using provider = await answering({
    status: 307,
    headers: { location: `${other.base}/v1/things/1` },
    body: {},
  })
  assert.equal((await failureOf(provider.api.get('v1/things/1'))).code, 'provider_unreachable')
  assert.deepEqual(other.requests, [])
})

test('a request ends when its signal says so', async () => {
  await using provider = await answering('hang')
  const abort = new AbortController()
  const request = provider.api.get('v1/things/1', { signal: abort.signal })
  const reason = new Error('over')
  const ended = assert.rejects(request, (error) => error === reason)
  await until(() => provider.requests.length === 1, { what: 'it is asked' })
  abort.abort(reason)
  await ended
})

async function serving(listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return {
    base: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('one host is asked 16 things at a time, and the rest waits', async () => {
  const asked: ServerResponse[] = []
  await using provider = await serving((_request, response) => void asked.push(response))
  const all = Promise.all(
    Array.from({ length: 60 }, (_none, index) => {
      const api = apiOf(provider.base)
      return index % 2 === 0 ? api.get(`v1/things/${index}`) : api.answer('post', 'v1/things')
    }),
  )
  for (let answered = 0; answered < 60; answered++) {
    const most = Math.min(answered + 16, 60)
    await until(() => asked.length === most, { what: `${most} have been asked` })
    // One place is free for one other at a time.
    asked[answered]?.end('{}')
  }
  await all
  assert.equal(asked.length, 60)
})

test('accounts of one host do not wait for each other', async () => {
  const open: { end(): void }[] = []
  await using provider = await serving((_request, response) => {
    open.push({ end: () => response.end('{}') })
  })
  const { base } = provider
  const of = (account: string) => createProviderApi({ title: 'Acme', base, account })
  const [eu, us] = [of('acme-eu'), of('acme-us')]
  const asking = Array.from({ length: 20 }, () => eu.get('v1/things'))
  await until(() => open.length >= 16, { what: 'one account asks as much as it may' })
  asking.push(us.get('v1/things'))
  await until(() => open.length > 16, { what: 'the other account asks as well' })
  assert.equal(open.length, 17)
  let ended = 0
  const end = setInterval(() => {
    for (; ended < open.length; ended += 1) open[ended]?.end()
  }, 5)
  await Promise.all(asking)
  clearInterval(end)
  assert.equal(open.length, 21)
})

for (const status of [200, 201, 400, 402, 404, 408, 429, 500, 503]) {
  test(`the whole answer of ${status} is kept, and nothing is asked again`, async () => {
    for (const method of ['post', 'patch', 'delete'] as const) {
      await using provider = await answering({ status, body: '{"error":{"amount":1.10}}' })
      const answer = await provider.api.answer(method, 'v1/things')
      const error = new Map([['amount', { number: '1.10' }]])
      assert.deepEqual(answer, { status, body: new Map([['error', error]]) })
      assert.equal(provider.requests.length, 1)
      assert.equal(provider.requests[0]?.method, method.toUpperCase())
    }
  })
}

test('a change whose whole answer is wanted is sent like any other', async () => {
  await using provider = await answering({ body: {} })
  const headers = { 'idempotency-key': 'one' }
  const more = { query: { expand: 'a' }, headers }
  await provider.api.post('v1/things', { ...more, form: { 'a[b]': 'c d' } })
  await provider.api.answer('post', 'v1/things', { ...more, body: { form: { 'a[b]': 'c d' } } })
  await provider.api.answer('patch', 'v1/things', { body: { json: { a: 1 } } })
  await provider.api.answer('delete', 'v1/things')
  const [posted, answered, patched, deleted] = provider.requests
  assert.deepEqual(answered, posted)
  assert.equal(answered?.headers.authorization, `Bearer ${key}`)
  assert.equal(answered?.headers.accept, 'application/json')
  assert.deepEqual([patched?.body, deleted?.body], ['{"a":1}', ''])
})

test('an answer that is no JSON has a status all the same', async () => {
  for (const body of ['<html>', '', '{"a":1,"a":2}']) {
    await using provider = await answering({ status: 502, body })
    const answer = await provider.api.answer('post', 'v1/things')
    assert.deepEqual(answer, { status: 502, body: undefined })
  }
})

test('where there is no answer, the whole of it is none either', async () => {
  await using other = await answering({ body: {} })
  const location = `${other.base}/v1/things`
  await using moved = await answering({ status: 307, headers: { location }, body: {} })
  await using cut = await serving((_request, response) => {
    response.writeHead(402, { 'content-length': 100 })
    response.write('{"error":', () => response.destroy())
  })
  const nobody = await answering({ body: {} })
  await nobody.close()
  for (const [base, cause] of [
    [moved.base, '.*'],
    [cut.base, '.*'],
    [nobody.base, 'ECONNREFUSED'],
  ] as const) {
    const failure = await failureOf(apiOf(base).answer('post', 'v1/things', { query: { t: 'x' } }))
    assert.equal(failure.code, 'provider_unreachable')
    assert.match(failure.message, new RegExp(`^Stripe did not answer POST /v1/things: ${cause}$`))
  }
  assert.deepEqual(other.requests, [])
  assert.equal(moved.requests.length, 1)
})

test('a key that no header can carry is not shown where the whole answer is wanted', async () => {
  const headers = { authorization: `Bearer ${key}\nx` }
  const api = createProviderApi({ title: 'Stripe', base: 'http://127.0.0.1:9', headers })
  const { code } = await failureOf(api.answer('post', 'v1/things'))
  assert.equal(code, 'provider_unreachable')
})

test('waiting for an answer, or for the rest of it, ends when the signal says so', async () => {
  let asked = 0
  await using silent = await serving(() => void (asked += 1))
  await using slow = await serving((_request, response) => {
    asked += 1
    response.write('{"error":')
  })
  for (const { base } of [silent, slow]) {
    const abort = new AbortController()
    const reason = new Error('over')
    const before = asked
    const answer = apiOf(base).answer('post', 'v1/things', { signal: abort.signal })
    const ended = assert.rejects(answer, (error) => error === reason)
    await until(() => asked > before, { what: 'it is asked' })
    abort.abort(reason)
    await ended
  }
})
