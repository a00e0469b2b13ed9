import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { FeedRow } from '../../src/database/read-feed-rows.ts'
import { endpointLease, type LeasedEndpoint } from '../../src/outbound/lease-endpoints.ts'
import { openWindow } from '../../src/outbound/endpoint-window.ts'
import { capturedLog } from '../support/captured-log.ts'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { insertEvent } from './events-in-feed.ts'
import { makeDue } from './make-due.ts'
import { accept, refuse, startReceiver, type Receiver } from './receiver.ts'
import { sentStatements } from './sent-statements.ts'

const billing = { encryptionKey: randomBytes(32).toString('base64') }

async function opened(engine: Parameters<typeof openBilling>[0], options: BillingOptions = {}) {
  return openBilling(engine, { billing, ...options })
}

async function shopAt({ core }: TestBilling, receiver: Receiver, fields = {}): Promise<string> {
  const { endpoint, secret } = await core.endpoints.create({
    name: 'shop',
    url: receiver.url,
    ...fields,
  })
  receiver.secret = secret
  return endpoint.id
}

async function pay({ core }: TestBilling): Promise<string> {
  const { id } = await newPayment(core)
  await sendFake(core, id, 'success')
  return id
}

const forwardOf = async ({ core }: TestBilling) => (await core.endpoints.forwards('shop')).data[0]

const placeOf = async ({ core }: TestBilling) => (await core.endpoints.get('shop'))?.position

const isAt = (one: TestBilling, position: number) =>
  until(async () => (await placeOf(one)) === position, { what: `it is at ${position}` })

/** Each look of a sender for what is due again to its endpoint: once a second. */
const looksAgain = /from billing\.forwards as forward.*order by forward\.next_attempt_at/s
/** Each look for endpoints that have something to do: once a second, and when the feed has grown. */
const looksForEndpoints = /^\s*with taken as materialized .*"billing"\."endpoints"/s

onPostgres((engine) => {
  test('while one event of a payment is under way, the next waits, and nothing is looked for again and again', async (t) => {
    const { sent, count } = sentStatements(t)
    await using one = await opened(engine)
    await using receiver = await startReceiver()
    const held = Promise.withResolvers<void>()
    receiver.answer = (received, response) =>
      void held.promise.then(() => accept(received, response))
    await shopAt(one, receiver)
    await one.core.work()
    const { id } = await newPayment(one.core)
    await sendFake(one.core, id, 'failure')
    await sendFake(one.core, id, 'success')
    await until(() => receiver.received.length === 1, { what: 'the first is under way' })
    await until(async () => (await one.core.events.feed({ after: 'start' })).data.length === 2, {
      what: 'both are in the feed',
    })
    const timers = t.mock.method(globalThis, 'setTimeout').mock
    const [before, looks] = [sent.length, count(looksAgain)]
    await until(() => count(looksAgain) >= looks + 3, { what: 'it has looked three times' })
    const statements = sent.length - before
    assert.equal(receiver.received.length, 1)
    assert.ok(statements < 500, `${statements} statements in three looks`)
    assert.ok(timers.callCount() < 500, `${timers.callCount()} timers in three looks`)
    held.resolve()
    await until(() => receiver.taken.length === 2, { what: 'the second follows' })
  })

  test('a probe keeps its lease for as long as it takes', async (t) => {
    await using one = await opened(engine)
    await using receiver = await startReceiver()
    const held = Promise.withResolvers<void>()
    receiver.answer = (received, response) =>
      void held.promise.then(() => accept(received, response))
    await shopAt(one, receiver, { timeoutSeconds: 60 })
    const { db } = one.database
    await sql`update billing.endpoints set failures = 5, failing_since = now()`.execute(db)
    await insertEvent(db)
    await one.core.work()
    await until(() => receiver.received.length === 1, { what: 'it is probed' })
    const leasedUntil = async () => {
      const { rows } = await sql<{ until: Date }>`
        select lease_until as until from billing.endpoints`.execute(db)
      return rows[0]?.until.getTime() ?? 0
    }
    const first = await leasedUntil()
    const { now } = performance
    t.mock.method(performance, 'now', () => now.call(performance) + endpointLease / 3)
    await until(async () => (await leasedUntil()) > first, {
      what: 'the lease is extended',
    })
    held.resolve()
    await isAt(one, 1)
    assert.equal((await one.core.endpoints.get('shop'))?.failures, 0)
    assert.equal(receiver.received.length, 1)
  })

  test('while a probe is under way, nothing else happens for its endpoint', async (t) => {
    const { count } = sentStatements(t)
    await using one = await opened(engine)
    await using receiver = await startReceiver(() => {})
    await shopAt(one, receiver, { timeoutSeconds: 60 })
    await sql`update billing.endpoints set failures = 5, failing_since = now()`.execute(
      one.database.db,
    )
    await insertEvent(one.database.db)
    await one.core.work()
    await until(() => receiver.received.length === 1, { what: 'it is probed' })
    const timers = t.mock.method(globalThis, 'setTimeout').mock
    await insertEvent(one.database.db)
    const looks = count(looksForEndpoints)
    await until(() => count(looksForEndpoints) >= looks + 4, { what: 'four looks' })
    assert.ok(timers.callCount() < 500, `${timers.callCount()} timers in four looks`)
    assert.equal(receiver.received.length, 1)
  })

  test('an event that somebody resends while its last attempt fails is sent again', async () => {
    await using one = await opened(engine)
    await using receiver = await startReceiver(refuse(500))
    const shop = await shopAt(one, receiver)
    const { endpoints } = one.core
    const id = await insertEvent(one.database.db)
    await one.core.work()
    await until(async () => (await forwardOf(one)) !== undefined, { what: 'it waits' })
    const held = Promise.withResolvers<void>()
    receiver.answer = (received, response) =>
      void held.promise.then(() => refuse(500)(received, response))
    await sql`update billing.forwards set attempts = 9, next_attempt_at = now() - interval '1 second'
      where endpoint_id = ${shop}::uuid`.execute(one.database.db)
    await until(() => receiver.received.length === 2, { what: 'its last attempt' })
    await endpoints.resend('shop', id)
    receiver.answer = accept
    held.resolve()
    await until(() => receiver.taken.length === 1, { what: 'it is sent again' })
    await until(async () => (await forwardOf(one))?.state === 'delivered', {
      what: 'it is written',
    })
    assert.deepEqual(await forwardOf(one).then((found) => [found?.cause, found?.attempts]), [
      'resend',
      0,
    ])
  })

  test('an event that was resent once is tried again when a replay of it fails', async () => {
    await using one = await opened(engine)
    await using receiver = await startReceiver()
    await shopAt(one, receiver)
    const { endpoints } = one.core
    const id = await insertEvent(one.database.db)
    await one.core.work()
    await isAt(one, 1)
    await endpoints.resend('shop', id)
    await until(async () => (await forwardOf(one))?.state === 'delivered', { what: 'it is resent' })
    receiver.answer = refuse(500)
    await endpoints.replay('shop', { after: 'start' })
    await until(async () => (await forwardOf(one))?.state === 'pending', {
      what: 'it is tried again',
    })
    assert.equal((await forwardOf(one))?.attempts, 1)
  })

  test('an endpoint with nothing to send is replayed at the next look, not when its lease is due', async (t) => {
    const { count } = sentStatements(t)
    await using one = await opened(engine)
    await using receiver = await startReceiver()
    await shopAt(one, receiver)
    await insertEvent(one.database.db)
    await one.core.work()
    await isAt(one, 1)
    await until(() => count(looksAgain) >= 2, { what: 'it is held, with nothing to send' })
    const heard = Promise.withResolvers<number>()
    receiver.answer = (received, response) => {
      heard.resolve(count(looksAgain))
      accept(received, response)
    }
    await one.core.endpoints.replay('shop', { after: 'start' })
    const looks = count(looksAgain)
    // The look that sees it, one that was under way, and the first of the process that takes it.
    assert.ok((await heard.promise) - looks <= 3)
  })

  test('an event that was resent in vain and is replayed meanwhile is not sent once more', async () => {
    await using one = await opened(engine)
    await using receiver = await startReceiver()
    await shopAt(one, receiver)
    const { endpoints } = one.core
    const id = await insertEvent(one.database.db)
    await one.core.work()
    await isAt(one, 1)
    receiver.answer = refuse(500)
    await endpoints.resend('shop', id)
    await until(async () => (await forwardOf(one))?.attempts === 1, { what: 'it fails' })
    receiver.answer = accept
    await endpoints.replay('shop', { after: 'start' })
    await until(async () => (await forwardOf(one))?.state === 'delivered', {
      what: 'it has got there',
    })
    assert.equal(receiver.taken.length, 2)
  })

  test('ten attempts follow each other at their times; probes use none of them (23)', async () => {
    await using one = await opened(engine)
    await using receiver = await startReceiver(refuse(500))
    const shop = await shopAt(one, receiver)
    const { endpoints } = one.core
    const { db } = one.database
    await insertEvent(db)
    await one.core.work()
    for (const [index, pause] of [5, 300, 1_800, 7_200, 18_000].entries()) {
      await until(async () => (await forwardOf(one))?.attempts === index + 1, {
        what: `attempt ${index + 1}`,
      })
      const { rows } = await sql<{ after: number }>`select
        extract(epoch from next_attempt_at - updated_at)::float8 as after
        from billing.forwards`.execute(db)
      const after = rows[0]?.after ?? 0
      assert.ok(after > pause * 0.79 && after < pause * 1.21, `${after} s after ${index + 1}`)
      // Not so often in a row that it is left alone.
      await sql`update billing.endpoints set failures = 0, next_at = null, lease_token = null,
        lease_until = null where id = ${shop}::uuid`.execute(db)
      if (index < 4)
        await sql`update billing.forwards set next_attempt_at = now() - interval '1 second'`.execute(
          db,
        )
    }
    await sql`update billing.endpoints set failures = 5`.execute(db)
    const probes = receiver.received.length
    await sql`update billing.forwards set next_attempt_at = now() - interval '1 second'`.execute(db)
    await until(
      async () => {
        await makeDue(one)
        return receiver.received.length >= probes + 3
      },
      { what: 'three probes' },
    )
    assert.deepEqual(
      [(await forwardOf(one))?.attempts, (await forwardOf(one))?.state],
      [5, 'pending'],
    )
    const { data } = await endpoints.attempts('shop')
    assert.deepEqual(new Set(data.slice(0, 2).map(({ attempt }) => attempt)), new Set([0]))
  })

  test('what anybody with a link can cause goes only to an endpoint that names it', async () => {
    await using one = await opened(engine)
    await using all = await startReceiver()
    await using named = await startReceiver()
    await shopAt(one, all)
    const eventTypes = ['CheckoutReturned', 'PaymentLinkOpened'] as const
    const created = await one.core.endpoints.create({ name: 'named', url: named.url, eventTypes })
    named.secret = created.secret
    const { db } = one.database
    const ids = await Promise.all(eventTypes.map((type) => insertEvent(db, type, type)))
    const other = await insertEvent(db)
    await one.core.work()
    await until(() => all.taken.length > 0 && named.taken.length === 2, { what: 'all have come' })
    await isAt(one, 3)
    assert.deepEqual([all.taken, named.taken.toSorted()], [[other], ids.toSorted()])
  })

  test('what is not for an endpoint takes nothing of its rate', async () => {
    await using one = await opened(engine)
    await using receiver = await startReceiver()
    await shopAt(one, receiver, { gateways: ['fake'], ratePerSecond: 1 })
    // So many that nobody waits for them here, if each takes its second.
    const others = 600
    await sql`insert into billing.events (id, dedup_key, type, source, data)
      select gen_random_uuid(), 'other ' || n, 'PaymentMethodAttached', 'call', '{}'
      from generate_series(1, ${others}::integer) as n`.execute(one.database.db)
    await one.core.work()
    await pay(one)
    await until(() => receiver.taken.length === 1, { what: 'its own' })
    await isAt(one, others + 1)
  })

  test('an event that is resent before its turn comes once, and the place goes on behind it', async () => {
    await using one = await opened(engine)
    await using receiver = await startReceiver()
    await shopAt(one, receiver)
    await one.core.endpoints.disable('shop')
    const ids: string[] = []
    for (let count = 0; count < 150; count += 1) ids.push(await insertEvent(one.database.db))
    await one.core.work()
    await until(
      async () =>
        (await one.core.events.feed({ after: ids[140] ?? '', limit: 50 })).data.length === 9,
      { what: 'all are numbered' },
    )
    await one.core.endpoints.resend('shop', ids[2] ?? '')
    await one.core.endpoints.enable('shop')
    await isAt(one, 150)
    assert.deepEqual(receiver.taken.toSorted(), ids.toSorted())
  })

  test('an event that waits for its next attempt and is replayed meanwhile is not sent once more', async () => {
    await using one = await opened(engine)
    await using receiver = await startReceiver(refuse(500))
    await shopAt(one, receiver)
    await one.core.work()
    await insertEvent(one.database.db)
    const stateOf = async () => (await one.core.endpoints.forwards('shop')).data[0]?.state
    await until(async () => (await stateOf()) === 'pending', { what: 'it waits' })
    receiver.answer = accept
    await one.core.endpoints.replay('shop', { after: 'start' })
    await until(async () => (await stateOf()) === 'delivered', { what: 'it has got there' })
    assert.equal(receiver.taken.length, 1)
  })

  test('an event that is given up after ten attempts is an error in the log', async () => {
    const { log, lines } = capturedLog()
    await using one = await opened(engine, { log })
    await using receiver = await startReceiver(refuse(500))
    const shop = await shopAt(one, receiver)
    const { db } = one.database
    const id = await insertEvent(db)
    await one.core.work()
    await until(async () => (await one.core.endpoints.forwards('shop')).data.length === 1, {
      what: 'it waits',
    })
    await sql`update billing.forwards set attempts = 9, next_attempt_at = now() - interval '1 second'
      where endpoint_id = ${shop}::uuid`.execute(db)
    await until(
      async () => (await one.core.endpoints.forwards('shop')).data[0]?.state === 'failed',
      { what: 'it is given up' },
    )
    const said = lines.find(({ msg }) => msg === 'an event was given up')
    assert.deepEqual([said?.['level'], said?.['endpoint'], said?.['event']], [50, 'shop', id])
  })

  test('one look reads a part of the feed, however little of it is wanted', async () => {
    await using one = await opened(engine)
    let reads = 0
    const beyond = async (position: bigint) => {
      reads += 1
      return Array.from({ length: 500 }, (_, index) => {
        return { id: '', type: 'PaymentFailed', position: position + BigInt(index) + 1n } as FeedRow
      })
    }
    const rows = { beyond, idAt: () => undefined, verify: async () => {} }
    const { feed } = await one.runtime.parts()
    const endpoint = { id: randomUuid, position: 0, ahead: [], eventTypes: ['PaymentSucceeded'] }
    const window = openWindow(endpoint as unknown as LeasedEndpoint, {
      database: one.database,
      feed: { ...feed, rows },
    })
    await window.refill()
    assert.deepEqual([reads <= 20, window.isBehind, window.hasMore], [true, true, false])
    assert.equal(window.position, BigInt(reads * 500))
  })
})

const randomUuid = '0190163d-8694-739b-aea5-966c26f8ad90'
