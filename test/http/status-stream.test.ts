import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { StreamLimits } from '../../src/http/pages/page-context.ts'
import { statusWatcher } from '../../src/http/pages/status-stream.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { PaymentStatus } from '../../src/payments/payment.ts'
import { createPayment, settle, startPayerService } from '../pages/payer-service.ts'
import { until } from '../support/until.ts'
import { eventually, type Service } from './service.ts'

const start = (streams: Partial<StreamLimits>) =>
  startPayerService({}, { app: { streams: { lookEvery: 20, ...streams } } })

const open = (service: Service, id: string, init: RequestInit = {}) =>
  fetch(`${service.listening.url}/billing/return/${id}/status`, init)

test('streams end when the service stops: nobody’s browser holds it up', async () => {
  const closing = new AbortController()
  await using service = await startPayerService({}, { app: { closing: closing.signal } })
  const { id } = await createPayment(service)
  const text = (await open(service, id)).text()
  closing.abort()
  assert.match(await text, /data: pending/)
  const late = await (await open(service, id)).text()
  assert.match(late, /data: pending/)
})

describe('the stream of a payment’s status', () => {
  let service: Service
  before(async () => {
    service = await start({})
  })
  after(() => service[Symbol.asyncDispose]())

  test('tells the status at once, then every change, and ends when it is paid', async () => {
    const { id } = await createPayment(service)
    const answer = await open(service, id)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'text/event-stream')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.equal(answer.headers.get('x-accel-buffering'), 'no')
    const told: string[] = []
    const reading = (async () => {
      const text = answer.body?.pipeThrough(new TextDecoderStream()) ?? []
      for await (const piece of text) told.push(piece)
    })()
    await settle(service, id, 'failure')
    await until(() => told.join('').includes('failed'), { what: 'the failure is told' })
    await settle(service, id, 'success')
    await reading
    assert.equal(
      told.join(''),
      'retry: 3000\nevent: status\ndata: pending\n\n' +
        'event: status\ndata: failed\n\nevent: status\ndata: paid\n\n',
    )
  })

  test('of a paid payment tells that and ends', async () => {
    const { id } = await createPayment(service)
    await settle(service, id, 'success')
    const text = await (await open(service, id)).text()
    assert.equal(text, 'retry: 3000\nevent: status\ndata: paid\n\n')
  })

  test('is there for payments alone', async () => {
    for (const id of ['x', '0199a000-0000-7000-8000-0000000000ff']) {
      assert.equal((await open(service, id)).status, 404)
    }
  })

  test('a HEAD gets the headers and opens none', async () => {
    const { id } = await createPayment(service)
    const answer = await open(service, id, { method: 'HEAD' })
    assert.equal(answer.headers.get('content-type'), 'text/event-stream')
  })
})

test('a stream ends after its time, whoever still waits', async () => {
  await using service = await start({ streamLasts: 50, streams: 1 })
  const { id } = await createPayment(service)
  for (const turn of ['first', 'second']) {
    const answer = await open(service, id)
    assert.equal(answer.status, 200, turn)
    assert.match(await answer.text(), /^retry: 3000\nevent: status\ndata: pending\n\n$/)
  }
})

test('beyond the limit the next one is told to come later, until one has left', async () => {
  await using service = await start({ streams: 2 })
  const { id } = await createPayment(service)
  for (const left of [id, 'x', id, 'x']) {
    const answer = await open(service, left, { method: left === id ? 'HEAD' : 'GET' })
    assert.equal(answer.status, left === id ? 200 : 404, 'none of these keeps a place')
  }
  const leaving = new AbortController()
  const first = await open(service, id, { signal: leaving.signal })
  const second = await open(service, id)
  const third = await open(service, id)
  assert.equal(third.status, 503)
  assert.equal(third.headers.get('retry-after'), '10')
  assert.equal((await open(service, 'x')).status, 503, 'before the database is asked')
  leaving.abort()
  await assert.rejects(first.text())
  const admitted = await eventually(async () => {
    const answer = await open(service, id)
    if (answer.status === 200) return answer
    await answer.text()
    return undefined
  })
  await settle(service, id, 'success')
  for (const answer of [second, admitted]) assert.match(await answer.text(), /data: paid\n\n$/)
})

/** The status of a stream's answer, and what ends it. */
function openFrom(service: Service, id: string, localAddress: string) {
  return new Promise<{ readonly status: number; readonly leave: () => void }>((resolve, reject) => {
    const url = `${service.listening.url}/billing/return/${id}/status`
    const outgoing = request(url, { agent: false, localAddress }, (answer) => {
      answer.on('error', () => {}).resume()
      resolve({ status: answer.statusCode ?? 0, leave: () => outgoing.destroy() })
    })
    outgoing.on('error', reject).end()
  })
}

test('one sender cannot take the streams of others, nor one payment those of another', async () => {
  await using service = await start({ streams: 12, perAddress: 2, perPayment: 3 })
  const ids: string[] = []
  for (let made = 0; made < 6; made += 1) ids.push((await createPayment(service)).id)
  const [first = '', ...others] = ids
  const opened: (readonly [string, string, number])[] = []
  const leaving: (() => void)[] = []
  const tryFrom = async (address: string, id: string) => {
    const { status, leave } = await openFrom(service, id, address)
    leaving.push(leave)
    opened.push([address, id, status])
    return status
  }
  for (const status of [200, 200, 200, 503]) assert.equal(await tryFrom('127.0.0.2', first), status)
  for (const id of others) for (const _ of [1, 2]) await tryFrom('127.0.0.2', id)
  const taken = opened.filter(([, , status]) => status === 200).length
  assert.equal(taken, 9, 'three quarters of all')
  for (const id of others.slice(0, 2)) assert.equal(await tryFrom('127.0.0.1', id), 200)
  assert.equal(await tryFrom('127.0.0.1', others[4] ?? ''), 503, 'his share too')
  assert.equal(await tryFrom('127.0.0.3', others[4] ?? ''), 200)
  for (const leave of leaving) leave()
  await eventually(async () => ((await tryFrom('127.0.0.2', first)) === 200 ? true : undefined))
  for (const leave of leaving) leave()
})

test('the database going away ends the streams, so that browsers look themselves', async () => {
  await using service = await start({})
  const { id } = await createPayment(service)
  const answer = await open(service, id)
  await service.core.close()
  assert.match(await answer.text(), /^retry: 3000\nevent: status\ndata: pending\n\n$/)
})

describe('the watcher of statuses', () => {
  const every = 10
  /** Rounds begin when the test lets so much time pass. */
  const watched = (t: TestContext, lookUp: Parameters<typeof statusWatcher>[0]) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const round = async () => {
      t.mock.timers.tick(every)
      await turn()
    }
    return { ...statusWatcher(lookUp, { every, log: silentLog }), round }
  }

  test('one look serves all watches of a round, and rounds do not overlap', async (t) => {
    const rounds: string[][] = []
    let answer = () => {}
    const { watch, round } = watched(t, (ids) => {
      rounds.push([...ids])
      return new Promise((resolve) => (answer = () => resolve(new Map())))
    })
    const unwatch = ['a', 'b', 'a', 'a'].map((id) => watch(id, 'pending', () => {}))
    for (const count of [1, 2, 3]) {
      for (let times = 0; times < 5; times += 1) await round()
      assert.equal(rounds.length, count, 'the next one begins after this one')
      if (count === 3) for (const end of unwatch) end()
      answer()
      await turn()
    }
    assert.deepEqual(rounds, [
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ])
    for (let times = 0; times < 5; times += 1) await round()
    assert.equal(rounds.length, 3, 'nobody waits, nobody looks')
  })

  test('tells changes alone, to those that have not seen them', async (t) => {
    const statuses = new Map<string, PaymentStatus>([['a', 'pending']])
    const { watch, round } = watched(t, () => Promise.resolve(statuses))
    const told: string[] = []
    watch('a', 'pending', (status) => told.push(`first ${status}`))
    watch('a', 'failed', (status) => told.push(`second ${status}`))
    watch('gone', 'pending', (status) => told.push(`gone ${status}`))
    await round()
    assert.deepEqual(told, ['second pending'])
    statuses.set('a', 'paid')
    for (let times = 0; times < 3; times += 1) await round()
    assert.deepEqual(told, ['second pending', 'first paid', 'second paid'])
  })

  test('tells everybody once when it cannot look, and looks for the next who comes', async (t) => {
    let isAway = true
    const { watch, round } = watched(t, () =>
      isAway
        ? Promise.reject(new Error('away'))
        : Promise.resolve(new Map([['a', 'paid'] as const])),
    )
    const told: string[] = []
    watch('a', 'pending', (status) => told.push(status))
    watch('b', 'pending', (status) => told.push(status))
    await round()
    assert.deepEqual(told, ['lost', 'lost'])
    isAway = false
    watch('a', 'pending', (status) => told.push(status))
    await round()
    assert.deepEqual(told, ['lost', 'lost', 'paid'])
  })
})
