import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Hono } from 'hono'
import { listen, usualArrival, type HttpServer } from '../../src/http/serve.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startLocalService } from '../support/local-service.ts'
import { sessionEvent, signedHeaders } from '../support/stripe-callbacks.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { flood, postOnce, type Attack } from './flood.ts'
import {
  capturedLog,
  eventually,
  exchange,
  signingSecret,
  startService,
  type Service,
} from './service.ts'

const attackers = Array.from({ length: 25 }, (_, index) => `127.0.0.${index + 2}`)

function validCall() {
  const payment = { id: newUuid(), amount: 1999n, currency: 'UAH' }
  const body = JSON.stringify(sessionEvent({ payment }))
  return { body, headers: signedHeaders(body, signingSecret) }
}

describe('valid callbacks get in while strangers hold all connections that they can', () => {
  const most = 200
  let service: Service
  before(async () => {
    const limits = { maxConnections: most, connectionsPerAddress: 10, arrival: usualArrival }
    service = await startService({ work: false, limits })
  })
  after(() => service[Symbol.asyncDispose]())

  async function takenDuring(attack: Attack, from: readonly string[]): Promise<number> {
    const { port, url } = service.listening
    await using attackers = await flood({ port, attack, from, sockets: most + 50 })
    await until(() => attackers.lost > 0, { what: 'all places are taken' })
    let taken = 0
    for (let round = 0; round < 30; round += 1) {
      if (round % 3 === 0) attackers.goOn()
      const target = `${url}/billing/webhooks/stripe`
      const statuses = Array.from({ length: 10 }, () => postOnce(target, validCall()))
      taken += (await Promise.all(statuses)).filter((status) => status === 200).length
    }
    return taken
  }

  const one = [attackers.slice(0, 1), 'of another address'] as const
  const many = [attackers, 'of many addresses'] as const
  const same = [['127.0.0.1'], 'of the same address, as behind a proxy'] as const
  for (const [attack, places] of [
    ['keep-alive connections that ask now and then', [one, many, same]],
    ['requests whose headers trickle in', [one, many, same]],
    ['connections that say nothing', [one, many, same]],
    ['requests whose bodies trickle in', [one, many, same]],
  ] as const) {
    for (const [from, whose] of places) {
      test(`${attack}, ${whose}`, async () => {
        const taken = await takenDuring(attack, from)
        assert.ok(taken >= 297, `${taken} of 300 were taken`)
      })
    }
  }
})

const idleRequest = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const slowRequest = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'
const large = 'a'.repeat(20_000_000)
const unfinished = 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab'

describe('places for connections', () => {
  const { log, logged } = capturedLog()
  let server: HttpServer
  let slowAsked = 0
  const answering = Promise.withResolvers<void>()
  before(async () => {
    const app = new Hono()
    app.get('/', (c) => c.text('here'))
    app.get('/slow', async (c) => {
      slowAsked += 1
      await answering.promise
      return c.text('here')
    })
    app.get('/large', (c) => c.text(large))
    app.post('/body', async (c) => c.text(await c.req.text()))
    app.onError((_error, c) => c.text('cut short', 400))
    // Every address is counted: also the mapped one that IPv4 has on a socket for both.
    const limits = { maxConnections: 8, connectionsPerAddress: 3 }
    server = await listen(app, { host: '::', port: 0, log, ...limits })
  })
  after(() => {
    answering.resolve()
    return server.close(0)
  })

  const open: Visitor[] = []
  const visit = async (from: string, bytes = idleRequest) => {
    const visitor = await connectFrom(server.port, from, bytes)
    open.push(visitor)
    return visitor
  }
  const visits = async (count: number, from: string, bytes?: string) => {
    for (let index = 0; index < count; index += 1) await visit(from, bytes)
  }
  const standing = () => open.map(({ isOpen }) => isOpen())
  const leave = async () => {
    for (const { socket } of open.splice(0)) socket.destroy()
    await eventually(async () => {
      const { answers } = await exchange(server.port, idleRequest, { answers: 1 })
      return answers[0]?.headers.get('connection') === 'keep-alive' || undefined
    })
  }

  test('below three quarters one address, which may be a proxy, has as many as it likes', async () => {
    await visits(6, '127.0.0.1')
    assert.deepEqual(standing(), Array(6).fill(true))
    assert.ok(open.every(({ text }) => text().includes('onnection: keep-alive')))
    await leave()
  })

  test('above them an address with more than its share gives up its own idle ones', async () => {
    await visits(2, '127.0.0.3')
    await visits(4, '127.0.0.2')
    const late = await visit('127.0.0.2')
    assert.match(late.text(), /200 OK/)
    await until(() => standing().includes(false), { what: 'one of them is closed' })
    assert.deepEqual(standing(), [true, true, false, true, true, true, true])
    await leave()
  })

  test('above them whoever is answered is asked to leave', async () => {
    await visits(6, '127.0.0.2')
    const answered = await visit('127.0.0.3')
    await until(() => !answered.isOpen(), { what: 'it is closed behind its answer' })
    assert.match(answered.text(), /200 OK[^]*onnection: close/)
    await leave()
  })

  test('the last place taken, whoever has been idle for longest makes room', async () => {
    for (let index = 0; index < 8; index += 1) await visit(`127.0.0.${index + 2}`, '')
    // Heard meanwhile, and idle again since: now the youngest.
    const [first] = open
    await first?.send(unfinished)
    const asking = await visit('127.0.0.20', unfinished)
    const second = open[1]
    await until(() => second?.isOpen() === false, { what: 'the second one is closed' })
    assert.deepEqual(standing(), [true, false, ...Array<boolean>(7).fill(true)])
    asking.socket.write('cd')
    await until(() => asking.text().includes('abcd'), { what: 'the whole body is answered' })
    await leave()
  })

  test('who sends ever more requests without waiting for an answer is closed, and logged', async () => {
    const few = await visit('127.0.0.2', idleRequest.repeat(15))
    const many = await visit('127.0.0.3', slowRequest.repeat(200))
    await until(() => !many.isOpen(), { what: 'it is closed' })
    await eventually(async () => few.text().split('200 OK').length === 16 || undefined)
    assert.equal(few.isOpen(), true)
    assert.equal(many.text(), '')
    assert.ok(slowAsked <= 16, `${slowAsked} were begun`)
    assert.match(logged.join(''), /"hasty":1,"addresses":\{"127\.0\.0\.3":1\}/)
    await leave()
  })

  test('the last place taken, a body that does not come makes room, the longest awaited first', async () => {
    for (let index = 0; index < 7; index += 1) await visit(`127.0.0.${index + 2}`, unfinished)
    // Came last, and is about to ask: what trickles in elsewhere makes nobody younger.
    await visit('127.0.0.20', '')
    await open[0]?.send('c')
    await visit('127.0.0.21', unfinished)
    await visit('127.0.0.22', unfinished)
    await until(() => open[1]?.isOpen() === false, { what: 'the second one is closed' })
    assert.deepEqual(standing(), [false, false, ...Array<boolean>(8).fill(true)])
    const rest = open.slice(2)
    rest[5]?.socket.write(unfinished)
    for (const { socket } of rest) socket.write('cd')
    await eventually(async () => rest.every(({ text }) => text().includes('abcd')) || undefined)
    await leave()
  })

  test('an address with more than its share gives up bodies that do not come', async () => {
    await visits(6, '127.0.0.2', unfinished)
    const late = await visit('127.0.0.2')
    assert.match(late.text(), /200 OK/)
    await until(() => open[0]?.isOpen() === false, { what: 'the first one is closed' })
    assert.deepEqual(standing().slice(0, 6), [false, ...Array<boolean>(5).fill(true)])
    await leave()
  })

  test('who leaves his answer unread makes room', async () => {
    const unread = await visit('127.0.0.2', '')
    unread.socket.pause()
    await unread.send('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
    for (let index = 0; index < 7; index += 1) await visit(`127.0.0.${index + 3}`, slowRequest)
    assert.match((await visit('127.0.0.20')).text(), /200 OK/)
    unread.socket.resume()
    await until(() => !unread.isOpen(), { what: 'it is closed' })
    assert.ok(unread.text().length < large.length)
    await leave()
  })

  test('who waits for our answer is never closed: new connections are refused, logged and counted', async () => {
    await visits(6, '127.0.0.2', slowRequest)
    for (const address of ['127.0.0.3', '127.0.0.4']) await visit(address, slowRequest)
    for (const address of ['127.0.0.2', '127.0.0.5']) {
      const refused = await visit(address)
      await until(() => !refused.isOpen(), { what: 'it is refused' })
      assert.equal(refused.text(), '')
    }
    assert.deepEqual(standing().slice(0, 8), Array(8).fill(true))
    await leave()
    const told = logged.filter((line) => line.includes('connections were refused'))
    assert.equal(told.length, 1, 'at once, and then no more than once a minute')
    assert.match(told[0] ?? '', /"level":40.*"refused":1,"addresses":\{"127\.0\.0\.2":1\},"most":8/)
  })
})

test('bodies that do not come whole never fill the memory: the first ones are closed', async () => {
  const { log, logged } = capturedLog()
  const app = new Hono()
  app.post('/body', async (c) => c.text(`${(await c.req.text()).length}`))
  app.onError((_error, c) => c.text('cut short', 400))
  const server = await listen(app, { host: '127.0.0.1', port: 0, log })
  const mebibyte = 1024 * 1024
  const head = (length: number) =>
    `POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`
  const small = await connectFrom(server.port, '127.0.0.1', `${head(4)}ab`)
  const large: Visitor[] = []
  for (let index = 0; index < 80; index += 1) {
    const visitor = await connectFrom(server.port, '127.0.0.1', '')
    await visitor.send(head(mebibyte + 1))
    visitor.socket.write(Buffer.alloc(mebibyte, 'a'))
    large.push(visitor)
  }
  await eventually(async () => large.filter(({ isOpen }) => !isOpen()).length >= 10 || undefined)
  const isOpen = large.map((one) => one.isOpen())
  assert.ok(isOpen.filter(Boolean).length >= 60, 'most of them fit')
  assert.deepEqual(
    isOpen,
    isOpen.toSorted((one, other) => Number(one) - Number(other)),
  )
  for (const { socket } of [small, ...large.slice(-1)]) socket.write('cd')
  await eventually(async () => small.text().endsWith('4') || undefined)
  assert.match(logged.join(''), /"closed":1,"addresses":\{"127\.0\.0\.1":1\}/)
  for (const { socket } of [small, ...large]) socket.destroy()
  await server.close(0)
})

test('serve takes its limits from the environment and from quittance.config', async () => {
  using folder = temporaryFolder()
  writeFileSync(
    join(folder.path, 'quittance.config.mjs'),
    'export default { http: { max_connections: 10, keep_alive_seconds: 20 } }',
  )
  fillDataFolder(join(folder.path, '.quittance'))
  const running = await startLocalService({
    cwd: folder.path,
    env: { BILLING_HTTP_KEEP_ALIVE_SECONDS: '30', BILLING_HTTP_CONNECTIONS_PER_ADDRESS: '2' },
  })
  const port = Number(new URL(running.url).port)
  const visitors: Visitor[] = []
  for (let index = 0; index < 8; index += 1) {
    visitors.push(await connectFrom(port, '127.0.0.1', idleRequest))
  }
  assert.match(visitors[0]?.text() ?? '', /Keep-Alive: timeout=30/)
  assert.deepEqual(
    visitors.map(({ isOpen }) => isOpen()),
    [false, ...Array<boolean>(7).fill(true)],
  )
  for (const { socket } of visitors) socket.destroy()
  await running.stop()
  assert.match(running.stderr.join('\n'), /"closed":1,"addresses":\{"127\.0\.0\.1":1\},"most":10/)
})

interface Visitor {
  readonly socket: Socket
  text(): string
  isOpen(): boolean
  /** Returns when the server has read it, or has ended the connection. */
  send(bytes: string): Promise<void>
}

/** The server's end of each connection, by the address of the other one. */
const served = new Map<string, Socket>()
const note = (message: unknown) => {
  const { socket } = message as { readonly socket: Socket }
  const address = socket.remoteAddress?.replace('::ffff:', '')
  served.set(`${address} ${socket.remotePort}`, socket)
}
before(() => subscribe('net.server.socket', note))
after(() => void unsubscribe('net.server.socket', note))

/** Returns when the server has heard of it: when it was answered, or sent what is never answered. */
async function connectFrom(port: number, from: string, bytes: string): Promise<Visitor> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  let text = ''
  let isOpen = true
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece))
  socket.on('error', () => {})
  for (const end of ['end', 'close']) socket.once(end, () => (isOpen = false))
  await once(socket, 'connect')
  const place = `${from} ${socket.localPort}`
  let sent = 0
  const send = async (more: string) => {
    sent += more.length
    if (more !== '') socket.write(more, 'latin1')
    const isHeard = () => {
      const end = served.get(place)
      return end !== undefined && (end.destroyed || end.bytesRead >= sent)
    }
    await until(isHeard, { what: 'the server has read it' })
  }
  if (bytes === idleRequest) {
    sent += bytes.length
    socket.write(bytes)
    await Promise.race([once(socket, 'data'), once(socket, 'close')])
  } else await send(bytes)
  return { socket, text: () => text, isOpen: () => isOpen, send }
}
