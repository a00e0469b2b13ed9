import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { allowedPlaces } from '../../src/outbound/address.ts'
import { createConnections } from '../../src/outbound/connect.ts'
import { send } from '../../src/outbound/send.ts'
import { until } from '../support/until.ts'

/** A server of names that takes questions and answers none. */
async function silentNameServer() {
  const socket = createSocket('udp4')
  const asked = new Set<string>()
  socket.on('message', (question) => {
    // The name begins behind the head of twelve bytes: a length, and the first label.
    asked.add(question.toString('latin1', 13, 13 + (question[12] ?? 0)))
  })
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve)
  })
  const { port } = socket.address()
  return { address: `127.0.0.1:${port}`, asked, [Symbol.dispose]: () => socket.close() }
}

test('eight names without an answer disturb neither the look-ups nor the files of others (21)', async () => {
  using server = await silentNameServer()
  const connections = createConnections({
    production: true,
    places: allowedPlaces([]),
    nameServers: [server.address],
  })
  let ended = 0
  const requests = Array.from({ length: 8 }, async (_, index) => {
    const url = `https://silent-${index}.example/hooks`
    const request = { url, headers: {}, body: '{}', timeout: 15_000 }
    const sent = await send(request, connections, new AbortController().signal)
    ended += 1
    return sent.result
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
  assert.deepEqual(new Set(await Promise.all(requests)), new Set(['name_unknown']))
  connections.end()
})
