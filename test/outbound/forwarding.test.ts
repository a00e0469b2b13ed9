import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { BillingOptions } from '../../src/billing/options.ts'
import { hours, seconds } from '../../src/kernel/duration.ts'
import { newPayment, openBilling, sendFake, until, type TestBilling } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onAnyDatabase, onBothDatabases, onPostgres, postgres } from '../support/databases.ts'
import { insertEvent } from './events-in-feed.ts'
import { makeDue } from './make-due.ts'
import { accept, refuse, startReceiver, type Receiver } from './receiver.ts'
import { runningClock } from './running-clock.ts'

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

/** Nobody works on the endpoint any more; what was sent is written. */
async function untilReleased({ database }: TestBilling): Promise<void> {
  const isReleased = async () => {
    const { rows } = await sql`select from billing.endpoints
      where name = 'shop' and lease_token is null and updated_at > created_at`.execute(database.db)
    return rows.length === 1
  }
  await until(isReleased, { what: 'it is released' })
}

/** The same of one that rests; nobody sends to it for a day, however slow the machine is. */
async function restUntilTomorrow({ database }: TestBilling): Promise<void> {
  const rests = async () => {
    const { rows } = await sql`update billing.endpoints set next_at = now() + interval '1 day'
      where name = 'shop' and lease_token is null and next_at is not null returning id`.execute(
      database.db,
    )
    return rows.length === 1
  }
  await until(rests, { what: 'it rests' })
}

const taken = (receiver: Receiver, count: number) =>
  until(() => receiver.taken.length >= count, { what: `${count} are taken` })

onBothDatabases((engine) => {
  test('an endpoint gets each event once, signed, and in order (11)', async () => {
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    await endpointAt(billing, receiver)
    await billing.core.work()
    const ids = []
    for (let count = 0; count < 12; count += 1) ids.push(await pay(billing))
    const isAt = (position: number) =>
      until(async () => (await billing.core.endpoints.get('shop'))?.position === position, {
        what: `its place is written: ${position}`,
      })
    await isAt(12)
    // One more comes, and nothing besides it.
    ids.push(await pay(billing))
    await isAt(13)
    assert.deepEqual([receiver.received.length, receiver.forged], [13, []])
    const paid = receiver.received.map(({ event }) => event.data['payment']?.['id'])
    assert.deepEqual(new Set(paid), new Set(ids))
    const positions = receiver.received.map(({ event }) => event.position)
    assert.deepEqual(new Set(positions).size, 13)
    const attempts = await billing.core.endpoints.attempts('shop', { limit: 100 })
    assert.deepEqual(new Set(attempts.data.map(({ result }) => result)), new Set(['delivered']))
    assert.equal(attempts.data.length, 13)
  })
})

onAnyDatabase((engine) => {
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
    await until(() => heard.length > 0, { what: 'the listener hears it' })
    assert.deepEqual(heard, ['gone gone'])
    const told = other.received.map(({ event }) => event).find(({ type }) => /Disabled/.test(type))
    assert.deepEqual(told?.data['endpoint']?.['name'], 'gone')
    await pay(billing)
    await taken(other, 3)
    assert.deepEqual([gone.received.length, heard.length], [1, 1])
    const endpoint = await billing.core.endpoints.get('gone')
    assert.deepEqual([endpoint?.enabled, endpoint?.disabledReason], [false, 'gone'])
  })

  test('disabled for long, then switched on: nothing is missing; replayed: the same ids (24)', async (t) => {
    const { endTrust } = runningClock(t)
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    await using beside = await startReceiver()
    await endpointAt(billing, receiver)
    await endpointAt(billing, beside, 'beside')
    const switchOff = async () => {
      await billing.core.endpoints.disable('shop')
      endTrust()
    }
    await billing.core.work()
    await pay(billing)
    await taken(receiver, 1)
    await switchOff()
    for (let count = 0; count < 5; count += 1) await pay(billing)
    await taken(beside, 6)
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
    await switchOff()
    await pay(billing)
    await taken(beside, 7)
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
    await until(async () => (await billing.core.endpoints.attempts(id)).data.length > 0, {
      what: 'it is sent, and that is written',
    })
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
    const asked = hours(2)
    for (const form of ['seconds', 'date']) {
      const begun = Date.now()
      // Without its milliseconds.
      const date = new Date(begun + asked + seconds(1)).toUTCString()
      const header = form === 'date' ? date : `${asked / 1000}`
      await using billing = await openBilling(postgres, withKey)
      await using receiver = await startReceiver()
      await using beside = await startReceiver()
      receiver.answer = (received, response) =>
        (receiver.received.length === 1 ? refuse(429, { 'retry-after': header }) : accept)(
          received,
          response,
        )
      await endpointAt(billing, receiver)
      await endpointAt(billing, beside, 'beside')
      await billing.core.work()
      await pay(billing)
      await untilReleased(billing)
      const due = (await billing.core.endpoints.get('shop'))?.nextAt?.getTime() ?? 0
      const [earliest, latest] = [begun + asked, Date.now() + asked + seconds(1)]
      assert.ok(due >= earliest && due <= latest, `due ${new Date(due).toISOString()}: ${header}`)
      await pay(billing)
      await taken(beside, 2)
      assert.equal(receiver.received.length, 1)
      await makeDue(billing)
      await taken(receiver, 2)
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
    await untilReleased(billing)
    assert.equal((await told()).length, 1)
  })

  test('a lease that was stolen: the loser writes nothing (13)', async () => {
    await using billing = await openBilling(postgres, withKey)
    await using receiver = await startReceiver()
    const held = Promise.withResolvers<void>()
    receiver.answer = (received, response) => {
      if (receiver.received.length === 1) void held.promise.then(() => accept(received, response))
    }
    const id = await endpointAt(billing, receiver)
    await billing.core.work()
    await pay(billing)
    await until(() => receiver.received.length === 1, { what: 'it is under way' })
    const { db } = billing.database
    // The thief's has run out: the loser takes the endpoint once more when it has let go of it.
    await sql`update billing.endpoints set lease_token = gen_random_uuid(),
      lease_until = statement_timestamp() where id = ${id}::uuid`.execute(db)
    held.resolve()
    await until(() => receiver.received.length === 2, { what: 'it is sent again' })
    const { rows } = await sql<{ position: bigint; attempts: bigint }>`select position,
      (select count(*) from billing.forward_attempts) as attempts from billing.endpoints`.execute(
      db,
    )
    assert.deepEqual(rows, [{ position: 0n, attempts: 0n }])
  })

  test('five failures in a row: only probes are sent, and a success ends that; then all goes on (14, 15)', async () => {
    await using billing = await openBilling(postgres, withKey)
    await using receiver = await startReceiver(refuse(500))
    await using beside = await startReceiver()
    await endpointAt(billing, receiver)
    await endpointAt(billing, beside, 'beside')
    await billing.core.work()
    const comes = () => insertEvent(billing.database.db)
    for (let count = 0; count < 60; count += 1) await comes()
    /** It is left alone until a day later, and meanwhile an event comes that goes to the other one. */
    const isLeftAlone = async () => {
      await restUntilTomorrow(billing)
      const before = receiver.received.length
      const id = await comes()
      await until(() => beside.taken.includes(id), { what: 'the other one has it' })
      assert.equal(receiver.received.length, before)
      return before
    }
    await until(async () => ((await billing.core.endpoints.get('shop'))?.failures ?? 0) >= 5, {
      what: 'it has failed so often',
    })
    const before = await isLeftAlone()
    assert.ok(before < 12, `${before} requests`)
    await makeDue(billing)
    await until(() => receiver.received.length > before, { what: 'a probe' })
    assert.equal(await isLeftAlone(), before + 1)
    receiver.answer = accept
    await makeDue(billing)
    await until(() => receiver.taken.length > 0, { what: 'the probe is taken' })
    await until(
      async () => {
        await makeDue(billing)
        return new Set(receiver.taken).size === 62
      },
      { what: 'all have come' },
    )
    assert.equal(receiver.taken.length, 62)
    assert.equal((await billing.core.endpoints.get('shop'))?.failures, 0)
  })
})
