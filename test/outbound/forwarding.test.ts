import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { BillingOptions } from '../../src/billing/options.ts'
import {
  idle,
  newPayment,
  openBilling,
  sendFake,
  until,
  type TestBilling,
} from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { forEachDatabase, onPostgres, postgres } from '../support/databases.ts'
import { insertEvent } from './events-in-feed.ts'
import { makeDue } from './make-due.ts'
import { accept, refuse, startReceiver, type Receiver } from './receiver.ts'

const encryptionKey = randomBytes(32).toString('base64')
const withKey: BillingOptions = { billing: { encryptionKey } }

async function endpointAt(
  { core }: TestBilling,
  receiver: Receiver,
  name = 'shop',
): Promise<string> {
  const { endpoint, secret } = await core.endpoints.create({ name, url: receiver.url })
  receiver.secret = secret
  return endpoint.id
}

async function pay({ core }: TestBilling): Promise<string> {
  const { id } = await newPayment(core)
  await sendFake(core, id, 'success')
  return id
}

/** Whoever sends to it notices within a moment. */
async function switchOff({ core }: TestBilling): Promise<void> {
  await core.endpoints.disable('shop')
  await pause(500)
}

const taken = (receiver: Receiver, count: number, limitMs = 30_000) =>
  until(() => receiver.taken.length >= count, { what: `${count} are taken`, limitMs })

forEachDatabase((engine) => {
  test('an endpoint gets each event once, signed, and in order (11)', async () => {
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    await endpointAt(billing, receiver)
    await billing.core.work()
    const ids = []
    for (let count = 0; count < 12; count += 1) ids.push(await pay(billing))
    await taken(receiver, 12)
    await pause(300)
    assert.deepEqual(receiver.forged, [])
    const paid = receiver.received.map(({ event }) => event.data['payment']?.['id'])
    assert.deepEqual(new Set(paid), new Set(ids))
    const positions = receiver.received.map(({ event }) => event.position)
    assert.deepEqual(new Set(positions).size, 12)
    const endpoint = await billing.core.endpoints.get('shop')
    await until(async () => (await billing.core.endpoints.get('shop'))?.position === 12, {
      what: 'its place is written',
    })
    const attempts = await billing.core.endpoints.attempts(endpoint?.id ?? '', { limit: 100 })
    assert.deepEqual(new Set(attempts.data.map(({ result }) => result)), new Set(['delivered']))
    assert.equal(attempts.data.length, 12)
  })

  test('what was declined, then paid: success is not held up, and the late one says so (25)', async () => {
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    receiver.answer = (received, response) => {
      const isFirst = received.event.type === 'PaymentFailed' && receiver.received.length === 1
      ;(isFirst ? refuse(500) : accept)(received, response)
    }
    await endpointAt(billing, receiver)
    await billing.core.work()
    const { id } = await newPayment(billing.core)
    await sendFake(billing.core, id, 'failure')
    await until(() => receiver.received.length === 1, { what: 'the decline was sent' })
    await sendFake(billing.core, id, 'success')
    await taken(receiver, 1)
    assert.equal(receiver.received.at(-1)?.event.type, 'PaymentSucceeded')
    await makeDue(billing)
    await taken(receiver, 2)
    const late = receiver.received.at(-1)?.event
    assert.deepEqual(
      [late?.type, late?.superseded, late?.data['payment']?.['status']],
      ['PaymentFailed', true, 'paid'],
    )
    assert.equal(late?.id, receiver.received[0]?.id)
  })

  test('410 disables an endpoint, and EndpointDisabled says so once (17)', async () => {
    await using billing = await openBilling(engine, withKey)
    await using gone = await startReceiver(refuse(410))
    await using other = await startReceiver()
    await endpointAt(billing, gone, 'gone')
    await endpointAt(billing, other, 'other')
    const heard: string[] = []
    billing.core.on('EndpointDisabled', 'hearing', (event) => {
      heard.push(`${event.endpoint.name} ${event.reason}`)
    })
    await billing.core.work()
    await pay(billing)
    await taken(other, 2)
    assert.deepEqual(heard, ['gone gone'])
    const told = other.received.map(({ event }) => event).find(({ type }) => /Disabled/.test(type))
    assert.deepEqual(told?.data['endpoint']?.['name'], 'gone')
    await pay(billing)
    await taken(other, 3)
    assert.equal(gone.received.length, 1)
    const endpoint = await billing.core.endpoints.get('gone')
    assert.deepEqual([endpoint?.enabled, endpoint?.disabledReason], [false, 'gone'])
  })

  test('disabled for long, then switched on: nothing is missing; replayed: the same ids (24)', async () => {
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    await endpointAt(billing, receiver)
    await billing.core.work()
    await pay(billing)
    await taken(receiver, 1)
    await switchOff(billing)
    for (let count = 0; count < 5; count += 1) await pay(billing)
    await idle(billing.core)
    assert.equal(receiver.received.length, 1)
    await billing.core.endpoints.enable('shop')
    await taken(receiver, 6)
    await until(async () => (await billing.core.endpoints.get('shop'))?.position === 6, {
      what: 'its place is written',
    })
    await billing.core.endpoints.replay('shop', { after: 'start' })
    await taken(receiver, 12)
    assert.deepEqual(receiver.taken.slice(0, 6).toSorted(), receiver.taken.slice(6).toSorted())
    await billing.core.endpoints.resend('shop', receiver.taken[2] ?? '')
    await taken(receiver, 13)
    assert.equal(receiver.taken.at(-1), receiver.taken[2])
    // What has come meanwhile, if it is not wanted.
    await switchOff(billing)
    await pay(billing)
    await idle(billing.core)
    await until(
      async () => (await billing.core.events.feed({ after: 'start' })).data.length === 7,
      {
        what: 'all are numbered',
      },
    )
    await billing.core.endpoints.enable('shop', { from: 'end' })
    const last = await pay(billing)
    await taken(receiver, 14)
    assert.equal(receiver.received.at(-1)?.event.data['payment']?.['id'], last)
  })

  test('while a secret is exchanged, both sign; afterwards the new one alone (11)', async () => {
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    await endpointAt(billing, receiver)
    const old = receiver.secret
    const { secret } = await billing.core.endpoints.rotateSecret('shop')
    await billing.core.work()
    await pay(billing)
    await taken(receiver, 1)
    receiver.secret = secret
    await pay(billing)
    await taken(receiver, 2)
    assert.deepEqual([receiver.forged, old === secret], [[], false])
    assert.match(receiver.received[0]?.headers['webhook-signature'] ?? '', /^v1,\S+ v1,\S+$/)
  })

  test('secrets are in no row, no list, no attempt, and open in no other row (26)', async () => {
    const { log, lines } = capturedLog()
    await using billing = await openBilling(engine, { ...withKey, log })
    await using receiver = await startReceiver()
    receiver.answer = (_received, response) => {
      response
        .writeHead(500, { 'content-type': 'text/plain' })
        .end(`your secret: ${receiver.secret}`)
    }
    const id = await endpointAt(billing, receiver)
    await billing.core.endpoints.create({ name: 'other', url: receiver.url })
    const key = receiver.secret.replace('whsec_', '')
    await billing.core.work()
    await pay(billing)
    await until(() => receiver.received.length > 0, { what: 'it is sent' })
    const { db } = billing.database
    for (const table of ['endpoints', 'forwards', 'forward_attempts', 'events']) {
      const { rows } = await sql<{ row: string }>`
        select to_jsonb(t)::text as row from ${sql.id('billing', table)} as t`.execute(db)
      for (const { row } of rows) assert.ok(!row.includes(key), table)
    }
    const listed = JSON.stringify([
      await billing.core.endpoints.list(),
      await billing.core.endpoints.attempts(id),
    ])
    assert.ok(!listed.includes(key))
    assert.ok(!JSON.stringify(lines).includes(key))
    await sql`update billing.endpoints as one set secrets = other.secrets from billing.endpoints as other
      where one.name = 'other' and other.name = 'shop'`.execute(db)
    await assert.rejects(billing.core.endpoints.test('other'), /its secret cannot be read here/)
  })
})

onPostgres(() => {
  test('429 with Retry-After, in seconds or as a date: silence until then (18)', async () => {
    for (const header of ['2', () => new Date(Date.now() + 3_000).toUTCString()]) {
      await using billing = await openBilling(postgres, withKey)
      await using receiver = await startReceiver()
      const value = typeof header === 'string' ? header : header()
      receiver.answer = (received, response) =>
        (receiver.received.length === 1 ? refuse(429, { 'retry-after': value }) : accept)(
          received,
          response,
        )
      await endpointAt(billing, receiver)
      await billing.core.work()
      await pay(billing)
      await until(() => receiver.received.length === 1, { what: 'the first is refused' })
      await pay(billing)
      await taken(receiver, 1)
      const [first, second] = receiver.received
      const silence = (second?.at ?? 0) - (first?.at ?? 0)
      assert.ok(silence > 1_000, `${silence} ms after ${value}`)
    }
  })

  test('what has failed for five days is disabled, and not a moment before', async () => {
    await using billing = await openBilling(postgres, withKey)
    await using receiver = await startReceiver(refuse(500))
    await endpointAt(billing, receiver)
    const { db } = billing.database
    const { core } = billing
    const failsFor = (hours: number) =>
      sql`update billing.endpoints set failures = 5,
        failing_since = now() - make_interval(hours => ${hours}::integer)`.execute(db)
    await failsFor(5 * 24 - 1)
    await insertEvent(db)
    await core.work()
    const shop = () => core.endpoints.get('shop')
    await until(async () => (await shop())?.failures === 6, { what: 'a probe fails' })
    assert.equal((await shop())?.enabled, true)
    await failsFor(5 * 24)
    await makeDue(billing)
    await until(async () => (await shop())?.enabled === false, { what: 'it is disabled' })
    assert.deepEqual([(await shop())?.disabledReason, (await shop())?.position], ['failing', 0])
    const told = async () => (await core.events.list({ type: 'EndpointDisabled' })).data
    await until(async () => (await told()).length === 1, { what: 'the event says so' })
    await pause(300)
    assert.equal((await told()).length, 1)
  })

  test('a lease that was stolen: the loser writes nothing (13)', async () => {
    await using billing = await openBilling(postgres, withKey)
    await using receiver = await startReceiver()
    const held = Promise.withResolvers<void>()
    receiver.answer = (received, response) =>
      void held.promise.then(() => accept(received, response))
    const id = await endpointAt(billing, receiver)
    await billing.core.work()
    await pay(billing)
    await until(() => receiver.received.length === 1, { what: 'it is under way' })
    const { db } = billing.database
    await sql`update billing.endpoints set lease_token = gen_random_uuid(),
      lease_until = statement_timestamp() + interval '1 hour' where id = ${id}::uuid`.execute(db)
    held.resolve()
    await taken(receiver, 1)
    await pause(1_500)
    const { rows } = await sql<{ position: bigint; attempts: bigint }>`select position,
      (select count(*) from billing.forward_attempts) as attempts from billing.endpoints`.execute(
      db,
    )
    assert.deepEqual(rows, [{ position: 0n, attempts: 0n }])
  })

  test('five failures in a row: only probes are sent, and a success ends that; then all goes on (14, 15)', async () => {
    await using billing = await openBilling(postgres, withKey)
    await using receiver = await startReceiver(refuse(500))
    await endpointAt(billing, receiver)
    await billing.core.work()
    for (let count = 0; count < 60; count += 1) await insertEvent(billing.database.db)
    await until(async () => ((await billing.core.endpoints.get('shop'))?.failures ?? 0) >= 5, {
      what: 'it is left alone',
    })
    await pause(2_500)
    const before = receiver.received.length
    assert.ok(before < 12, `${before} requests`)
    await makeDue(billing)
    await until(() => receiver.received.length > before, { what: 'a probe' })
    await pause(1_500)
    assert.equal(receiver.received.length, before + 1)
    receiver.answer = accept
    await makeDue(billing)
    await until(() => receiver.taken.length > 0, { what: 'the probe is taken' })
    await until(
      async () => {
        await makeDue(billing)
        return new Set(receiver.taken).size === 60
      },
      { what: 'all have come', limitMs: 30_000 },
    )
    assert.equal(receiver.taken.length, 60)
    assert.equal((await billing.core.endpoints.get('shop'))?.failures, 0)
  })
})
