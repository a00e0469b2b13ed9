import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { createProviderApi } from '../../src/gateways/api/provider-api.ts'
import { listen } from '../../src/http/serve.ts'
import { minutes } from '../../src/kernel/duration.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { startStandIn } from '../support/stand-in.ts'
import { until } from '../support/until.ts'
import { assertFailed } from './answers.ts'
import { capturedLog, exchange, slowly } from './service.ts'

const where = { host: '127.0.0.1', port: 0, log: silentLog }
const slowRequest = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'

/** An app whose one route answers once it is let, and a promise that a request has reached it. */
function slowApp() {
  const reached = Promise.withResolvers<void>()
  const answering = Promise.withResolvers<void>()
  const app = new Hono().get('/slow', async (c) => {
    reached.resolve()
    await answering.promise
    return c.text('done')
  })
  return { app, reached: reached.promise, letAnswer: answering.resolve }
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
  const { app, reached, letAnswer } = slowApp()
  // Neither limit ends the silent connection in time.
  const server = await listen(app, { ...where, arrival: slowly, silence: minutes(2) })
  // Connected first, so it is accepted by the time the request of the other one is handled.
  const silent = connect(server.port, '127.0.0.1')
  const underWay = exchange(server.port, slowRequest)
  await reached
  // Without an end: silent connections would hold it up for ever.
  const closing = server.close(Infinity)
  await assert.rejects(fetch(server.url))
  letAnswer()
  const { answers, closed } = await underWay
  assert.equal(answers[0]?.status, 200)
  assert.equal(answers[0]?.headers.get('connection'), 'close')
  assert.equal(closed, true)
  let isClosed = false
  void closing.then(() => (isClosed = true))
  await until(() => isClosed, { what: 'it is closed; silent connections do not hold it up' })
  silent.destroy()
})

test('close cuts what outlives the grace', async () => {
  const { app, reached } = slowApp()
  const server = await listen(app, where)
  // It is never answered: only the server can end it.
  const cut = exchange(server.port, slowRequest)
  await reached
  await server.close(100)
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
  const { app, reached, letAnswer } = slowApp()
  const unread = Promise.withResolvers<boolean>()
  app.post('/body', async (c) => c.text(await c.req.text()))
  app.get('/large', (c) => {
    const { outgoing } = c.env as HttpBindings
    outgoing.once('close', () => unread.resolve(!outgoing.writableFinished))
    return c.body('x'.repeat(30_000_000))
  })
  app.onError((_error, c) => c.text('cut short', 400))
  const server = await listen(app, { ...where, silence: 200 })
  let waiting = exchange(server.port, slowRequest, { answers: 1 })
  // On a slow machine a connection may be too silent before its request is read: another comes.
  while ((await Promise.race([reached, waiting])) !== undefined) {
    waiting = exchange(server.port, slowRequest, { answers: 1 })
  }
  const unfinished = 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab'
  const silent = await exchange(server.port, unfinished)
  let deaf: Socket | undefined
  const listenToNothing = () => {
    deaf = connect(server.port, '127.0.0.1').pause()
    deaf.on('error', () => {}).write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
    deaf.once('close', listenToNothing)
  }
  listenToNothing()
  assert.equal(await unread.promise, true)
  deaf?.off('close', listenToNothing).destroy()
  // It was silent before the other one was, and for as long.
  letAnswer()
  const { answers } = await waiting
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
  await assertFailed(answer, logged)
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

test('rubbish within a request whose answer is on its way ends the connection, and adds nothing', async () => {
  const app = new Hono().post('/stream', () => {
    const begun = Buffer.from('begun')
    return new Response(new ReadableStream({ start: (stream) => stream.enqueue(begun) }))
  })
  const server = await listen(app, where)
  const socket = connect(server.port, '127.0.0.1')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let received = ''
  socket.on('data', (chunk) => {
    const wasBegun = received.includes('begun')
    received += chunk.toString()
    if (!wasBegun && received.includes('begun')) socket.write('rubbish\r\n')
  })
  socket.write('POST /stream HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n')
  await closed
  assert.deepEqual(received.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200'])
  await server.close(0)
})
