import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { until } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import {
  createOverHttp,
  deploy,
  finished,
  makeTable,
  postFake,
  postFakeOnce,
  whileBusy,
  type Deployment,
} from '../support/deployment.ts'
import { freePort, startService } from '../support/process.ts'
import { signedHeaders, signingSecret } from '../support/stripe-callbacks.ts'
import { beginRequest, headOf, openSocket } from './raw-request.ts'

const callback = (id: string) => JSON.stringify({ payment_id: id, result: 'success' })

/** Over few connections that are kept: thousands of requests from one process. */
function sender(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  const post = (gateway: string, body: string, headers: Record<string, string> = {}) =>
    new Promise<number>((answered, failed) => {
      const sending = request(
        `${url}/billing/webhooks/${gateway}`,
        { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } },
        (answer) => {
          answer.resume().on('end', () => answered(answer.statusCode ?? 0))
        },
      )
      sending.once('error', failed).end(body)
    })
  return { post, close: () => agent.destroy() }
}

/** The service with nobody who reads what it says. */
async function startUnread({ cwd, env }: Deployment) {
  const port = String(await freePort())
  const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, 'serve'], {
    cwd,
    env: { PATH: process.env['PATH'], ...env, HOST: '127.0.0.1', PORT: port },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((end) => child.once('exit', end))
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200, {
    what: 'the service is ready',
  })
  return { child, url, ended }
}

onAnyDatabase((engine) => {
  let deployment: Deployment
  before(async () => {
    deployment = await deploy(engine)
  })
  after(() => deployment.remove())

  test('F94: nobody reads the log, 8,000 callbacks come: valid ones answer 200, SIGTERM ends with 0', async (t) => {
    const { child, url, ended } = await startUnread(deployment)
    t.after(() => {
      child.kill('SIGKILL')
      return ended
    })
    const { post, close } = sender(url)
    // Refused ones are logged: far more than a pipe holds, and than may wait in memory.
    const garbage = await Promise.all(Array.from({ length: 8_000 }, () => post('stripe', '{}')))
    assert.deepEqual([...new Set(garbage)], [403])
    const valid = await Promise.all(
      Array.from({ length: 100 }, () => whileBusy(() => post('fake', callback(randomUUID())))),
    )
    assert.deepEqual([...new Set(valid)], [200])
    close()
    child.kill('SIGTERM')
    // After 30 s it ends by itself, with 1.
    assert.equal(await Promise.race([ended, pause(240_000, 'still there', { ref: false })]), 0)
  })

  test('F93: 10 times the body limit from 64 senders at once: 413, and memory stays bounded', async (t) => {
    const env = { ...deployment.env, STRIPE_SIGNING_SECRET: signingSecret }
    const service = await startService({ ...deployment, env })
    t.after(() => service.kill())
    const { pid } = service.child
    const before = peakMegabytes(pid)
    const { post, close } = sender(service.url)
    const tooMuch = await Promise.all(Array.from({ length: 64 }, () => flood(service.url)))
    // Who is still sending when the connection ends may lose the answer; its row is B 36.
    assert.ok(tooMuch.includes(413))
    // Nor has anybody more than a few seconds, which is little on a busy machine: 408.
    assert.ok(tooMuch.every((status) => status === 413 || status === 408 || status === 'cut'))
    const largest = JSON.stringify({ note: 'x'.repeat(1024 * 1024 - 11) })
    assert.equal(largest.length, 1024 * 1024)
    const stored = await Promise.all(
      Array.from({ length: 64 }, () => post('stripe', largest, signedHeaders(largest))),
    )
    assert.ok(stored.includes(200))
    assert.deepEqual(
      stored.filter((status) => status !== 200 && status !== 503),
      [],
    )
    close()
    const grown = peakMegabytes(pid) - before
    t.diagnostic(`peak memory grew by ${grown} MB`)
    assert.ok(grown < 512, `peak memory grew by ${grown} MB`)
    assert.equal((await service.stop()).code, 0)
  })

  test('F4, F25, F27: whoever leaves before the answer has his callback stored and processed, once', async (t) => {
    const service = await startService(deployment)
    t.after(() => service.kill())
    const database = await deployment.connect()
    await makeTable(database)
    const left = Array.from({ length: 20 }, () => randomUUID())
    await Promise.all(left.map((id) => createOverHttp(service.url, id)))
    const [orderly, reset] = [left.slice(0, 10), left.slice(10)]
    await sendUntilStored(database, orderly, (id) => sendAndLeave(service.url, id))
    await sendUntilStored(database, reset, (id, tries) => sendAndReset(service.url, id, tries))
    await until(async () => (await countTold(database, left)).size === left.length, {
      what: 'all are processed',
    })
    // The gateway saw no answer, so it comes again.
    const again = await Promise.all(left.map((id) => postFake(service.url, id, 'success')))
    assert.deepEqual([...new Set(again)], [200])
    await finished(database)
    assert.deepEqual([...new Set((await countTold(database, left)).values())], [1])
    await database.close()
    assert.equal((await service.stop()).code, 0)
  })

  test('F77: SIGTERM under load: requests under way get their answer, exit 0, no call left leased', async (t) => {
    const service = await startService(deployment)
    t.after(() => service.kill())
    const table = await deployment.connect()
    await makeTable(table)
    await table.close()
    const accepted: string[] = []
    let load = true
    let isStopping = false
    t.after(() => {
      load = false
    })
    const senders = Array.from({ length: 16 }, async () => {
      while (load) {
        const id = randomUUID()
        const status = await payNew(service.url, id).catch(() => undefined)
        // A busy machine may not store in time, and says so.
        if (status === undefined || (status === 503 && !isStopping)) continue
        // Neither an error nor a refusal: what was begun is finished.
        assert.equal(status, 200)
        accepted.push(id)
      }
    })
    await until(() => accepted.length > 20, { what: 'there is load' })
    const halves = Array.from({ length: 8 }, () => randomUUID())
    const sockets = await Promise.all(halves.map((id) => sendHalf(service.url, id)))
    isStopping = true
    const ending = service.stop()
    await service.line(/"stopping"/)
    const answers = await Promise.all(sockets.map((finish) => finish()))
    for (const answer of answers) {
      assert.match(answer, /^HTTP\/1\.1 200 /)
      assert.match(answer, /\r\nconnection: close\r\n/i)
    }
    const { code } = await ending
    load = false
    await Promise.all(senders)
    assert.equal(code, 0)

    const next = await startService(deployment)
    t.after(() => next.kill())
    const database = await deployment.connect()
    // A lease that was left behind would run out, and be counted as lost.
    await finished(database)
    const { rows } = await sql<{ lost: number; attempts: number }>`
      select max(leases_lost) as lost, max(attempts) as attempts
      from billing.webhook_calls`.execute(database.db)
    assert.deepEqual(rows, [{ lost: 0, attempts: 0 }])
    const told = await countTold(database, accepted)
    assert.deepEqual(
      accepted.filter((id) => told.get(id) !== 1),
      [],
      'each that was answered 200 has its one event',
    )
    const stored = await storedIds(database)
    assert.deepEqual(
      halves.filter((id) => !stored.has(id)),
      [],
    )
    await database.close()
    assert.equal((await next.stop()).code, 0)
  })
})

async function countTold(database: Database, ids: readonly string[]) {
  const { rows } = await sql<{ id: string; times: bigint }>`
    select payment_id as id, count(*) as times from told
    where payment_id = any(${[...ids]}::uuid[]) group by 1`.execute(database.db)
  return new Map(rows.map((row) => [row.id, Number(row.times)]))
}

/** The payments that a stored call is about. */
async function storedIds(database: Database): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select distinct payload->>'payment_id' as id from billing.webhook_calls`.execute(database.db)
  return new Set(rows.map((row) => row.id))
}

async function payNew(url: string, id: string): Promise<number | undefined> {
  return (await createOverHttp(url, id)) ? postFakeOnce(url, id, 'success') : undefined
}

async function sendWhole(url: string, id: string): Promise<Socket> {
  const socket = await openSocket(url)
  const body = callback(id)
  await new Promise((sent) => socket.write(headOf(body.length) + body, sent))
  return socket
}

/** Sends the whole callback and is gone before any answer, in order (FIN). */
async function sendAndLeave(url: string, id: string): Promise<void> {
  const socket = await sendWhole(url, id)
  socket.destroy()
}

/** The same, but the connection is reset (RST), after a while in which the service may read. */
async function sendAndReset(url: string, id: string, tries: number): Promise<void> {
  const socket = await sendWhole(url, id)
  await pause(20 * tries)
  socket.resetAndDestroy()
}

/**
 * A reset takes back what the service has not read yet, as on a busy machine, and what is read may
 * not be stored in time. What is not stored after a while is sent again, as by a gateway: in the
 * same way, so that none is ever sent in another.
 */
async function sendUntilStored(
  database: Database,
  ids: readonly string[],
  send: (id: string, tries: number) => Promise<void>,
): Promise<void> {
  let sentAt = -Infinity
  let tries = 0
  const areStored = async () => {
    const stored = await storedIds(database)
    const missing = ids.filter((id) => !stored.has(id))
    if (missing.length > 0 && performance.now() - sentAt > 3_000) {
      sentAt = performance.now()
      tries += 1
      await Promise.all(missing.map((id) => send(id, tries)))
    }
    return missing.length === 0
  }
  await until(areStored, { what: 'all that were sent are stored' })
}

/** Begins a callback, but for its end; the function sends that and returns the answer. */
async function sendHalf(url: string, id: string): Promise<() => Promise<string>> {
  const body = callback(id)
  const { socket, answer } = await beginRequest(url, body.length)
  socket.write(body.slice(0, 10))
  return () => {
    socket.write(body.slice(10))
    return answer
  }
}

/** Sends a body of ten times the limit without saying its length; the status of the answer. */
async function flood(url: string): Promise<number | 'cut'> {
  const socket = await openSocket(url)
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString()))
  const closed = new Promise((end) => socket.once('close', end))
  socket.write(
    'POST /billing/webhooks/stripe HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n',
  )
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
  for (let sent = 0; sent < 160 && socket.writable && text === ''; sent += 1) {
    if (!socket.write(chunk)) {
      const drained = new Promise((drain) => socket.once('drain', drain))
      await Promise.race([drained, closed, pause(5_000, undefined, { ref: false })])
    }
  }
  await Promise.race([closed, pause(5_000, undefined, { ref: false })])
  socket.destroy()
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(text) ?? []
  return status === undefined ? 'cut' : Number(status)
}

/** The most memory that the process has ever had; 0 where the system does not say. */
function peakMegabytes(pid: number | undefined): number {
  const file = `/proc/${pid}/status`
  if (!existsSync(file)) return 0
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(file, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}
