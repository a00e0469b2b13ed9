import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { Hono } from 'hono'
import { listen } from '../../src/http/serve.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { capturedLog, eventually, exchange } from './service.ts'

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

test('connections above the maximum are dropped, and a free place is taken again', async () => {
  const server = await listen(
    new Hono().get('/', (c) => c.text('here')),
    {
      ...where,
      maxConnections: 2,
    },
  )
  const open = [connect(server.port, '127.0.0.1'), connect(server.port, '127.0.0.1')]
  await delay(50)
  await assert.rejects(fetch(server.url))
  for (const socket of open) socket.destroy()
  // The server notices a moment later that they are gone.
  const answer = await eventually(() => fetch(server.url).catch(() => undefined))
  assert.equal(answer.status, 200)
  await server.close(0)
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
