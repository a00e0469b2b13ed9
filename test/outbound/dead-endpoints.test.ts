import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { openBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'
import { insertEvent } from './events-in-feed.ts'
import { makeDue } from './make-due.ts'
import { accept, startReceiver, type Receiver } from './receiver.ts'

const events = 120
const living = 6
/** For so many events: it ends only a test that fails. */
const many = 240_000
const deadNames = ['hangs', 'resets', 'refuses', 'unknown'] as const

/** Takes connections and does something else with them than answer. */
async function startDead(on: (socket: Socket) => void, port = 0) {
  let requests = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      requests += 1
      on(socket)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    get requests() {
      return requests
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      if (server.listening) await promisify(server.close.bind(server))()
    },
  }
}

/** Holds an answer for a moment; how many are under way, and were answered, whenever one comes. */
function watchSlots(receiver: Receiver) {
  const seen: { underWay: number; answered: number }[] = []
  let underWay = 0
  receiver.answer = (received, response) => {
    underWay += 1
    seen.push({ underWay, answered: receiver.taken.length })
    response.once('finish', () => (underWay -= 1))
    setTimeout(() => accept(received, response), 5)
  }
  return seen
}

onPostgres((engine) => {
  test('dead endpoints get a few requests, the others all events; back again, they get all they missed (14, 15)', async () => {
    await using billing = await openBilling(engine, {
      billing: { encryptionKey: randomBytes(32).toString('base64') },
    })
    const { endpoints } = billing.core
    await using ends = new AsyncDisposableStack()
    const receivers: Receiver[] = []
    for (let made = 0; made < living; made += 1) receivers.push(ends.use(await startReceiver()))
    const ports = await Promise.all(deadNames.map(() => freePort()))
    const hanging = ends.use(await startDead(() => {}, ports[0]))
    const resetting = ends.use(await startDead((socket) => socket.resetAndDestroy(), ports[1]))
    for (const [index, receiver] of receivers.entries()) {
      const { secret } = await endpoints.create({
        name: `lives-${index}`,
        url: receiver.url,
        timeoutSeconds: 60,
      })
      receiver.secret = secret
    }
    const secrets = new Map<string, string>()
    for (const [index, name] of deadNames.entries()) {
      const host = name === 'unknown' ? 'nowhere.invalid' : '127.0.0.1'
      const url = `http://${host}:${ports[index]}/hooks`
      const { secret } = await endpoints.create({ name, url, timeoutSeconds: 1 })
      secrets.set(name, secret)
    }
    await billing.core.work()
    const ids = new Set<string>()
    for (let made = 0; made < events; made += 1) ids.add(await insertEvent(billing.database.db))

    await until(() => receivers.every(({ taken }) => taken.length === events), {
      what: 'those that live have all',
      limitMs: many,
    })
    for (const { taken } of receivers) assert.deepEqual(new Set(taken), ids)
    const isLeftAlone = async (name: string) => ((await endpoints.get(name))?.failures ?? 0) >= 5
    for (const name of deadNames) {
      await until(() => isLeftAlone(name), { what: `${name} is left alone` })
      const { data } = await endpoints.attempts(name, { limit: 100 })
      assert.ok(data.length >= 5 && data.length < 30, `${data.length} requests to ${name}`)
    }
    assert.ok(hanging.requests < 30 && resetting.requests < 30)

    await hanging[Symbol.asyncDispose]()
    await resetting[Symbol.asyncDispose]()
    const returned = new Map<string, Receiver>()
    for (const [index, name] of deadNames.entries()) {
      const port = name === 'unknown' ? 0 : ports[index]
      const receiver = ends.use(await startReceiver(accept, port))
      receiver.secret = secrets.get(name) ?? ''
      returned.set(name, receiver)
      // They are slow no more, but the machine may be.
      await endpoints.update(name, {
        timeoutSeconds: 60,
        ...(name === 'unknown' && { url: receiver.url }),
      })
    }
    const seen = new Map(Array.from(returned, ([name, one]) => [name, watchSlots(one)]))
    for (const [name, receiver] of returned) {
      await until(
        async () => {
          await makeDue(billing)
          return new Set(receiver.taken).size === events
        },
        { what: `${name} has all that it missed`, limitMs: many },
      )
      assert.ok(receiver.taken.every((id) => ids.has(id)))
      assert.deepEqual([receiver.taken.length, receiver.forged], [events, []])
      // One at first, one more with each success.
      for (const { underWay, answered } of seen.get(name) ?? []) {
        assert.ok(underWay <= Math.min(answered + 1, 4), `${underWay} after ${answered} answers`)
      }
      assert.equal((await endpoints.get(name))?.enabled, true)
    }
  })
})
