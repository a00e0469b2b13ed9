import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { createProviderApi } from '../../src/gateways/api/provider-api.ts'
import { listen } from '../../src/http/serve.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { startStandIn } from '../support/stand-in.ts'
import { capturedLog, exchange } from './service.ts'

const where = { host: '127.0.0.1', port: 0, log: silentLog }
const slowRequest = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'

/** An app whose one route takes so long, and a promise that the first request has reached it. */
function slowApp(tookMs: number) {
  const reached = Promise.withResolvers<void>()
  const app = new Hono().get('/slow', async (c) => {
    reached.resolve()
    // Nobody waits for it once its connection was cut, nor does the process.
    await delay(tookMs, undefined, { ref: false })
    return c.text('done')
  })
  return { app, reached: reached.promise }
}

test('a port in use is a clear error with its fix', async () => {
  const first = await listen(new Hono(), where)
  await assert.rejects(listen(new Hono(), { ...where, port: first.port }), (error) => {
    assert.ok(isQuittanceError(error))
    assert.equal(error.code, 'setting_invalid')
    assert.equal(error.message, `port ${first.port} is in use`)
    assert.equal(error.fix, 'Set PORT to a free port.')
    return true
  })
  await first.close(0)
})

test('an address that is not of this machine is a clear error', async () => {
  await assert.rejects(listen(new Hono(), { ...where, host: '192.0.2.1' }), {
    code: 'setting_invalid',
    message: 'cannot listen on 192.0.2.1: EADDRNOTAVAIL',
  })
})

test('the URL names an address that can be connected to', async () => {
  for (const [host, named] of [
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', 'localhost'],
  ] as const) {
    const server = await listen(new Hono(), { ...where, host })
    assert.equal(server.url, `http://${named}:${server.port}`)
    await server.close(0)
  }
})

test('close answers what is under way, says so on the connection, and takes no more', async () => {
  const { app, reached } = slowApp(300)
  const server = await listen(app, where)
  // Connected first, so it is accepted by the time the request of the other one is handled.
  const silent = connect(server.port, '127.0.0.1')
  const underWay = exchange(server.port, slowRequest)
  await reached
  const begin = performance.now()
  const closing = server.close(5_000)
  await assert.rejects(fetch(server.url))
  const { answers, closed } = await underWay
  assert.equal(answers[0]?.status, 200)
  assert.equal(answers[0]?.headers.get('connection'), 'close')
  assert.equal(closed, true)
  await closing
  assert.ok(performance.now() - begin < 3_000, 'silent connections do not hold it up')
  silent.destroy()
})

test('close cuts what outlives the grace', async () => {
  const { app, reached } = slowApp(5_000)
  const server = await listen(app, where)
  // The sender waits for longer than the answer takes: only the server can end it sooner.
  const cut = exchange(server.port, slowRequest, { waitMs: 10_000 })
  await reached
  const begin = performance.now()
  await server.close(100)
  assert.ok(performance.now() - begin < 3_000)
  assert.deepEqual((await cut).answers, [])
})

test('between two requests a connection may stay for 65 s, unless another time is set', async () => {
  for (const [options, stated] of [
    [{}, 'timeout=65, max=1000'],
    [{ keepAlive: 90_000 }, 'timeout=90, max=1000'],
  ] as const) {
    const server = await listen(new Hono(), { ...where, ...options })
    const { answers } = await exchange(server.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', {
      answers: 1,
    })
    await server.close(0)
    assert.equal(answers[0]?.headers.get('keep-alive'), stated)
  }
})

test('who waits for an answer may be silent, and who keeps us waiting may not', async () => {
  const { app } = slowApp(600)
  const unread = Promise.withResolvers<boolean>()
  app.post('/body', async (c) => c.text(await c.req.text()))
  app.get('/large', (c) => {
    const { outgoing } = c.env as HttpBindings
    outgoing.once('close', () => unread.resolve(!outgoing.writableFinished))
    return c.body('x'.repeat(30_000_000))
  })
  app.onError((_error, c) => c.text('cut short', 400))
  const server = await listen(app, { ...where, silence: 200 })
  const { answers } = await exchange(server.port, slowRequest, { answers: 1 })
  const unfinished = 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab'
  const silent = await exchange(server.port, unfinished)
  const deaf = connect(server.port, '127.0.0.1').pause()
  deaf.on('error', () => {}).write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
  assert.equal(await unread.promise, true)
  deaf.destroy()
  await server.close(0)
  assert.equal(answers[0]?.status, 200)
  assert.equal(silent.closed, true)
})

test('an app that throws where nothing catches it answers 500 and is logged', async () => {
  const { log, logged } = capturedLog()
  const app = new Hono()
  app.fetch = () => Promise.reject(new Error('broken at the root'))
  const server = await listen(app, { ...where, log })
  const answer = await fetch(server.url)
  assert.equal(answer.status, 500)
  assert.deepEqual(await answer.json(), { message: 'internal error' })
  assert.ok(logged.some((line) => line.includes('broken at the root')))
  await server.close(0)
})

// The server puts its own Request and Response in the place of the global ones.
test('a process that serves can ask providers', async () => {
  const listening = await listen(new Hono(), where)
  const provider = await startStandIn(({ target }) =>
    target === '/refused'
      ? { status: 402, body: { error: { code: 'no_funds' } } }
      : { body: { id: 1 } },
  )
  const api = createProviderApi({ title: 'Stripe', base: provider.base })
  const found = new Map([['id', { number: '1' }]])
  try {
    assert.deepEqual(await api.get('found'), found)
    assert.deepEqual(await api.post('made', { json: {} }), found)
    const refused = { code: 'provider_refused', providerCode: 'no_funds' }
    await assert.rejects(api.post('refused', { json: {} }), refused)
    const body = new Map([['error', new Map([['code', 'no_funds']])]])
    assert.deepEqual(await api.answer('post', 'refused'), { status: 402, body })
  } finally {
    await provider.close()
    await listening.close(0)
  }
})
