import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { promises } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { test, type TestContext } from 'node:test'
import { allowedPlaces } from '../../src/outbound/address.ts'
import {
  createConnections,
  type Connections,
  type ConnectPolicy,
} from '../../src/outbound/connect.ts'
import { send } from '../../src/outbound/send.ts'
import { until } from '../support/until.ts'

/** A server of names that takes questions, and answers them once it is told to: there is none of them. */
async function silentNameServer() {
  const socket = createSocket('udp4')
  const asked = new Set<string>()
  const answers: (() => void)[] = []
  let isSilent = true
  socket.on('message', (question, { port, address }) => {
    // The name begins behind the head of twelve bytes: a length, and the first label.
    asked.add(question.toString('latin1', 13, 13 + (question[12] ?? 0)))
    const answer = Buffer.from(question)
    answer.set([0x81, 0x83], 2)
    if (isSilent) answers.push(() => socket.send(answer, port, address))
    else socket.send(answer, port, address)
  })
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve)
  })
  const { port } = socket.address()
  return {
    policy: {
      production: true,
      places: allowedPlaces([]),
      nameServers: [`127.0.0.1:${port}`],
    } satisfies ConnectPolicy,
    asked,
    answer() {
      isSilent = false
      for (const one of answers) one()
    },
    [Symbol.dispose]: () => socket.close(),
  }
}

/** It ends only a test that fails. */
const long = 60_000

const sendTo = async (name: string, connections: Connections) => {
  const url = `https://${name}.example/hooks`
  const request = { url, headers: {}, body: '{}', timeout: long, scrub: String }
  return (await send(request, connections, new AbortController().signal)).result
}

/** Nothing connects meanwhile; how long that may take is of no matter here. */
function connectForLong(t: TestContext): void {
  const start = setTimeout
  t.mock.method(globalThis, 'setTimeout', (end: () => void, length: number) =>
    start(end, length === 5_000 ? long : length),
  )
}

test('eight names without an answer disturb neither the look-ups nor the files of others (21)', async (t) => {
  connectForLong(t)
  using server = await silentNameServer()
  const connections = createConnections({ ...server.policy, resolveWithin: long })
  let ended = 0
  const requests = Array.from({ length: 8 }, async (_, index) => {
    const result = await sendTo(`silent-${index}`, connections)
    ended += 1
    return result
  })
  await until(() => server.asked.size === 8, { what: 'all eight are asked for' })
  // Node has four threads for files and the system's look-ups: eight that wait there hold these up.
  const [{ address }, text] = await Promise.all([
    lookup('localhost', { family: 4 }),
    readFile(new URL(import.meta.url), 'utf8'),
  ])
  assert.equal(ended, 0)
  assert.equal(address, '127.0.0.1')
  assert.match(text, /silentNameServer/)
  server.answer()
  assert.deepEqual(new Set(await Promise.all(requests)), new Set(['name_unknown']))
  connections.end()
})

test('a name that is never answered is given up', async (t) => {
  connectForLong(t)
  const given: unknown[] = []
  const { Resolver } = promises
  t.mock.method(promises, 'Resolver', function resolver(options: object) {
    given.push(options)
    // It need not last so long here.
    return new Resolver({ ...options, timeout: 100 })
  })
  using server = await silentNameServer()
  const connections = createConnections(server.policy)
  assert.equal(await sendTo('silent', connections), 'name_unknown')
  assert.deepEqual(given, [{ timeout: 2_000, tries: 1 }])
  connections.end()
})
