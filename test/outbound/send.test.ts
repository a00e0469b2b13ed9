import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net'
import { test, type TestContext } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { createConnections, type ConnectPolicy } from '../../src/outbound/connect.ts'
import { allowedPlaces } from '../../src/outbound/address.ts'
import { send, type Sent } from '../../src/outbound/send.ts'
import { handTimers } from '../support/hand-timers.ts'
import { until } from '../support/until.ts'
import { certificateOfIPv6, selfSigned } from './self-signed.ts'

const production: ConnectPolicy = { production: true, places: allowedPlaces([]) }
const local: ConnectPolicy = { production: true, places: allowedPlaces(['127.0.0.1']) }
const never = new AbortController().signal

interface Listening extends AsyncDisposable {
  readonly port: number
  readonly connected: () => number
}

/** Listens, on 127.0.0.1 if nothing else is given, counts its connections, and cuts them in the end. */
async function listening(server: Server, host = '127.0.0.1') {
  const sockets = new Set<Socket>()
  let connected = 0
  server.on('connection', (socket: Socket) => {
    connected += 1
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    connected: () => connected,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  } satisfies Listening
}

/** Says what it is told to as soon as a request has begun. */
const saying = (speak: (socket: Socket, turn: number) => void) => {
  let turn = 0
  return listening(
    createTcpServer((socket) => {
      socket.on('data', (chunk) => {
        if (chunk.includes('POST /')) speak(socket, (turn += 1))
      })
    }),
  )
}

/** For what is answered: it ends only a test that fails. */
const long = 60_000
const connectWithin = 5_000
const restWithin = 1_000

/**
 * Limits of the sender last as long as a test needs, and never end it on a slow machine. Returns those
 * that the sender has asked for.
 */
function limits(t: TestContext, { connect = long, rest = long } = {}): readonly number[] {
  const asked: number[] = []
  const lasting = new Map([
    [connectWithin, connect],
    [restWithin, rest],
  ])
  const start = setTimeout
  t.mock.method(globalThis, 'setTimeout', (end: () => void, length: number) => {
    asked.push(length)
    return start(end, lasting.get(length) ?? length)
  })
  return asked
}

async function sendTo(url: string, policy: ConnectPolicy = local, timeout = long): Promise<Sent> {
  const connections = createConnections(policy)
  try {
    return await send({ url, headers: {}, body: '{}', timeout, scrub: String }, connections, never)
  } finally {
    connections.end()
  }
}

const textOf = ({ result, status }: Sent) => `${result} ${status}`

/** Writes without end, but no faster than it is read. */
function pour(socket: Socket, chunk: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
}

test('a name that leads to a public address at first, then to ours: nothing connects (20)', async () => {
  await using server = await listening(createServer())
  const answers = [['8.8.8.8'], ['127.0.0.1']]
  const asked: string[] = []
  const resolve = async (host: string) => {
    asked.push(host)
    return answers[Math.min(asked.length, 2) - 1] ?? []
  }
  const policy = { ...production, resolve }
  // Whoever checks first has had the public one.
  assert.deepEqual(await resolve('rebinding.example'), ['8.8.8.8'])
  const sent = await sendTo(`https://rebinding.example:${server.port}/`, policy)
  assert.equal(sent.result, 'address_refused')
  assert.match(sent.response ?? '', /rebinding\.example leads to 127\.0\.0\.1/)
  assert.deepEqual([asked.length, server.connected()], [2, 0])
})

test('one public and one private address: nothing connects, in either order (20)', async () => {
  await using server = await listening(createServer())
  for (const addresses of [
    ['8.8.8.8', '127.0.0.1'],
    ['127.0.0.1', '8.8.8.8'],
    ['2606:4700::1111', '::ffff:127.0.0.1'],
  ]) {
    const policy = { ...production, resolve: async () => addresses }
    const sent = await sendTo(`https://two.example:${server.port}/`, policy)
    assert.equal(sent.result, 'address_refused', addresses.join())
  }
  assert.equal(server.connected(), 0)
})

test('addresses in the URL itself are refused before anything connects (19)', async (t) => {
  limits(t)
  await using server = await listening(createServer((_request, response) => response.end()))
  const hosts = ['127.0.0.1', '0x7f.1', '2130706433', '[::ffff:7f00:1]', '[::127.0.0.1]', '127.1']
  for (const host of hosts) {
    for (const protocol of ['http', 'https']) {
      const sent = await sendTo(`${protocol}://${host}:${server.port}/`, production)
      assert.equal(sent.result, 'address_refused', host)
    }
  }
  assert.equal(server.connected(), 0)
  // The same server is reached once it is allowed.
  const sent = await sendTo(`http://0x7f.1:${server.port}/`)
  assert.deepEqual([sent.result, server.connected()], ['delivered', 1])
})

test('a redirect to a metadata address is not followed, and named by its origin (16)', async (t) => {
  limits(t)
  let requests = 0
  await using server = await listening(
    createServer((_request, response) => {
      requests += 1
      const location = 'http://user:word@169.254.169.254/latest/meta-data?token=1'
      response.writeHead(302, { location }).end('moved')
    }),
  )
  const { durationMs: _, ...sent } = await sendTo(`http://127.0.0.1:${server.port}/`)
  const wanted = { result: 'redirected', status: 302, response: 'to http://169.254.169.254' }
  assert.deepEqual([sent, requests], [{ ...wanted, retryAfter: undefined }, 1])
})

const head = (status: string) => `HTTP/1.1 ${status}\r\ncontent-type: text/plain\r\n`

/**
 * Sends to a server that writes an answer of 1 GB so; returns how much of it was written. `atOnce` is
 * called when it counts.
 */
async function bytesOfDelivered(
  writeBody: (socket: Socket) => void,
  atOnce: (isCut: boolean) => void = () => {},
): Promise<number> {
  let written: number | undefined
  await using server = await saying((socket) => {
    socket.once('close', () => (written = socket.bytesWritten))
    socket.write(`${head('200 OK')}content-length: 1073741824\r\n\r\n`)
    writeBody(socket)
  })
  const connections = createConnections(local)
  const url = `http://127.0.0.1:${server.port}/`
  const timeout = 10 * long
  const sent = await send(
    { url, headers: {}, body: '{}', timeout, scrub: String },
    connections,
    never,
  )
  assert.equal(textOf(sent), 'delivered 200')
  atOnce(written !== undefined)
  await until(() => written !== undefined, { what: 'the connection is cut' })
  connections.end()
  return written ?? 0
}

test('2xx counts at once, whatever its body is, and that is cut (22)', async (t) => {
  limits(t)
  const bytes = await bytesOfDelivered((socket) => pour(socket, Buffer.alloc(64 * 1024)))
  assert.ok(bytes < 64 * 1024 * 1024, `${bytes} bytes`)
})

test('2xx counts at once, also where its body never comes, and that is given up after a second', async (t) => {
  limits(t)
  using rest = handTimers(restWithin)
  const bytes = await bytesOfDelivered(
    () => {},
    (isCut) => {
      assert.deepEqual([isCut, rest.started, rest.running], [false, 1, 1], 'it waits for the body')
      rest.strike()
    },
  )
  assert.ok(bytes > 0)
})

test('a failing answer of 1 GB is read for 16 KiB, and 1 KiB of it is kept (22)', async (t) => {
  limits(t)
  const written = Promise.withResolvers<number>()
  await using server = await saying((socket) => {
    socket.once('close', () => written.resolve(socket.bytesWritten))
    socket.write(`${head('500 Oops')}content-length: 1073741824\r\n\r\n`)
    pour(socket, Buffer.alloc(64 * 1024, 'x'))
  })
  const sent = await sendTo(`http://127.0.0.1:${server.port}/`)
  assert.deepEqual([textOf(sent), sent.response], ['rejected 500', 'x'.repeat(1024)])
  const bytes = await written.promise
  assert.ok(bytes < 64 * 1024 * 1024, `${bytes} bytes`)
})

test('an answer of a byte a second is cut: its body after a second, its head in time (22)', async (t) => {
  const asked = limits(t, { rest: 200 })
  const drip = (socket: Socket) => {
    const timer = setInterval(() => socket.write('x'), 20)
    socket.once('close', () => clearInterval(timer))
  }
  await using slowBody = await saying((socket) => {
    // Its beginning comes with its head.
    socket.write(`${head('500 Oops')}content-length: 100000\r\n\r\nxx`)
    drip(socket)
  })
  let isCut = false
  const sending = sendTo(`http://127.0.0.1:${slowBody.port}/`, local, 10 * long)
  void sending.finally(() => (isCut = true))
  await until(() => isCut, { what: 'its body is cut' })
  const cutBody = await sending
  assert.equal(textOf(cutBody), 'rejected 500')
  assert.match(cutBody.response ?? '', /^xx+$/)
  assert.ok(asked.includes(restWithin))
  await using slowHead = await saying((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ')
    drip(socket)
  })
  const cut = await sendTo(`http://127.0.0.1:${slowHead.port}/`, local, 1_000)
  assert.equal(textOf(cut), 'timed_out null')
})

test('endless headers are cut (22)', async (t) => {
  limits(t)
  const line = Buffer.from(`x: ${'y'.repeat(1000)}\r\n`)
  await using headers = await saying((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    pour(socket, line)
  })
  const sent = await sendTo(`http://127.0.0.1:${headers.port}/`)
  assert.equal(textOf(sent), 'reply_invalid null')
})

test('an answer may have some of 1xx before it, not any number (22)', async (t) => {
  limits(t)
  const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'
  await using hinting = await saying((socket) => {
    socket.end(`${hint.repeat(10)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`)
  })
  assert.equal(textOf(await sendTo(`http://127.0.0.1:${hinting.port}/`)), 'delivered 200')
  await using endless = await saying((socket) => pour(socket, Buffer.from(hint)))
  const sent = await sendTo(`http://127.0.0.1:${endless.port}/`)
  assert.deepEqual(
    [textOf(sent), sent.response],
    ['reply_invalid null', 'it answers 1xx again and again'],
  )
})

test('what is kept of an answer is blanked out before it is cut', async (t) => {
  limits(t)
  const key = 'canary-'.repeat(20)
  const answering = (body: string) =>
    saying(
      (socket) =>
        void socket.end(`${head('500 Oops')}content-length: ${body.length}\r\n\r\n${body}`),
    )
  const scrub = (text: string) => text.replaceAll(key, '[secret]')
  const request = { headers: {}, body: '{}', timeout: long, scrub }
  // About the end of what is kept, and about the end of what is read.
  const bodies = [
    ...[1, 70, 139].map((part) => 'x'.repeat(1024 - part) + key),
    ...[1, 70, 139].map(
      (part) => key.repeat(116) + 'y'.repeat(16 * 1024 - 116 * 140 - part) + key.repeat(3),
    ),
    'x'.repeat(1024) + key.repeat(200),
  ]
  for (const body of bodies) {
    await using server = await answering(body)
    const connections = createConnections(local)
    const url = `http://127.0.0.1:${server.port}/`
    const { response } = await send({ ...request, url }, connections, never)
    connections.end()
    assert.doesNotMatch(response ?? '', /canary/)
    assert.ok(body.startsWith(key) || response?.includes('x'), body)
  }
})

test('what is no answer of HTTP fails by its name', async (t) => {
  limits(t)
  const answers = [
    'SSH-2.0-OpenSSH\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
  ]
  for (const answer of answers) {
    await using server = await saying((socket) => socket.write(answer))
    const sent = await sendTo(`http://127.0.0.1:${server.port}/`)
    assert.equal(textOf(sent), 'reply_invalid null', answer)
  }
})

test('a reset on a connection from before: sent once more at once, over a new one', async (t) => {
  limits(t)
  const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
  let turns = 0
  await using server = await saying((socket, turn) => {
    turns = turn
    // The second comes over the connection of the first.
    if (turn === 2 || turn > 3) socket.resetAndDestroy()
    else socket.write(ok)
  })
  const connections = createConnections(local)
  const url = `http://127.0.0.1:${server.port}/`
  const one = () =>
    send({ url, headers: {}, body: '{}', timeout: long, scrub: String }, connections, never)
  assert.equal(textOf(await one()), 'delivered 200')
  // The connection is free again once its answer is read.
  const { freeSockets } = connections.agentOf(new URL(url), false)
  await until(() => Object.keys(freeSockets).length === 1, { what: 'the connection is free' })
  assert.equal(textOf(await one()), 'delivered 200')
  assert.deepEqual([turns, server.connected()], [3, 2])
  // A new connection that is reset is a failure: the endpoint has had it.
  assert.deepEqual([textOf(await one()), turns], ['not_connected null', 4])
  connections.end()
})

test('what is wrong with a connection has a name: refused, no name, no TLS, a foreign certificate', async (t) => {
  limits(t)
  const free = await listening(createServer())
  await free[Symbol.asyncDispose]()
  const refused = await sendTo(`http://127.0.0.1:${free.port}/`)
  assert.deepEqual([refused.result, refused.response], ['not_connected', 'ECONNREFUSED'])

  const unknown = { ...production, resolve: async () => [] }
  assert.equal((await sendTo('https://nowhere.example/', unknown)).result, 'name_unknown')

  await using plain = await listening(createServer())
  const noTls = await sendTo(`https://127.0.0.1:${plain.port}/`)
  assert.equal(noTls.result, 'tls_failed', noTls.response ?? '')

  let requests = 0
  await using tls = await listening(
    createTlsServer(selfSigned, () => {
      requests += 1
    }),
  )
  const foreign = await sendTo(`https://127.0.0.1:${tls.port}/`)
  assert.deepEqual([foreign.result, requests], ['tls_failed', 0])
  assert.match(foreign.response ?? '', /DEPTH_ZERO_SELF_SIGNED_CERT/)
})

test('an address of IPv6 is sent to by https, and its certificate is checked for it', async (t) => {
  limits(t)
  const trusted = getCACertificates()
  const answer: RequestListener = (_request, response) => response.end()
  const key = { key: selfSigned.key }
  await using right = await listening(
    createTlsServer({ ...key, cert: certificateOfIPv6 }, answer),
    '::1',
  )
  await using wrong = await listening(
    createTlsServer({ ...key, cert: selfSigned.cert }, answer),
    '::1',
  )
  const policy = { production: true, places: allowedPlaces(['::1']) }
  setDefaultCACertificates([...trusted, certificateOfIPv6, selfSigned.cert])
  try {
    const sent = await sendTo(`https://[::1]:${right.port}/`, policy)
    assert.deepEqual([textOf(sent), sent.response], ['delivered 200', null])
    const other = await sendTo(`https://[::1]:${wrong.port}/`, policy)
    assert.match(`${other.result} ${other.response}`, /^tls_failed .*ERR_TLS_CERT_ALTNAME_INVALID/)
  } finally {
    setDefaultCACertificates(trusted)
  }
})

test('a connection that does not come about is given up', async (t) => {
  // It takes the connection, and never answers the handshake.
  await using silent = await listening(createTcpServer(() => {}))
  const asked = limits(t, { connect: 50 })
  const sent = await sendTo(`https://127.0.0.1:${silent.port}/`)
  assert.deepEqual([sent.result, sent.response], ['timed_out', 'no connection within 5 s'])
  assert.deepEqual(asked, [connectWithin])
})
