import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newPayment, openBilling, sendFake } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onPostgres } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { insertEvent } from './events-in-feed.ts'
import { startReceiver } from './receiver.ts'

const billing = { encryptionKey: randomBytes(32).toString('base64') }

onPostgres((engine) => {
  test('while the database lets nothing be written, what was delivered is kept, and sent once', async () => {
    const { log, lines } = capturedLog()
    await using one = await openBilling(engine, { billing, log })
    await using receiver = await startReceiver()
    const { endpoint, secret } = await one.core.endpoints.create({ name: 'a', url: receiver.url })
    receiver.secret = secret
    const { db } = one.database
    await one.core.work()
    await insertEvent(db)
    await until(() => receiver.taken.length === 1, { what: 'it has begun' })
    // What was sent cannot be written; its lease can. Somebody may hold a lock for long.
    await sql`create function billing.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'a lock is held' using errcode = '55P03'; end $$`.execute(db)
    await sql`create trigger refuse before insert on billing.forward_attempts
      for each row execute function billing.refuse()`.execute(db)
    await insertEvent(db)
    await insertEvent(db)
    await until(() => lines.some(({ msg }) => msg === 'an endpoint is tried again'), {
      what: 'it is refused',
    })
    // Even if it should have lost its lease by then, it is not taken again, here nor elsewhere: not
    // even with another one, which is.
    await using other = await startReceiver()
    other.secret = (await one.core.endpoints.create({ name: 'b', url: other.url })).secret
    await insertEvent(db)
    const isOtherTaken = async () => {
      await sql`update billing.endpoints set lease_until = now() where name = 'a'`.execute(db)
      return other.taken.length === 1
    }
    await until(isOtherTaken, { what: 'the other one is taken' })
    await sql`drop trigger refuse on billing.forward_attempts`.execute(db)
    await insertEvent(db)
    await until(async () => (await one.core.endpoints.get('a'))?.position === 5, {
      what: 'all goes on',
    })
    assert.equal(new Set(receiver.taken).size, 5)
    assert.equal(receiver.taken.length, 5)
    assert.equal((await one.core.endpoints.attempts(endpoint.id)).data.length, 5)
  })

  test('an event that cannot be read goes to an endpoint of one gateway, and to its readers', async () => {
    await using one = await openBilling(engine, { billing })
    await using receiver = await startReceiver()
    const gateways = ['stripe']
    const created = await one.core.endpoints.create({ name: 'a', url: receiver.url, gateways })
    receiver.secret = created.secret
    const { db } = one.database
    // As a later version might write it, in other words.
    const id = await insertEvent(db, 'endpoint:disabled:of a later version', 'EndpointDisabled')
    await one.core.work()
    await until(() => receiver.taken.length === 1, { what: 'it is sent' })
    const { data } = await one.core.events.feed({ after: 'start', gateway: 'stripe' })
    assert.deepEqual([receiver.taken, data.map((event) => event.id)], [[id], [id]])
  })

  test('an event that cannot be written as it is goes out without what it is about', async () => {
    await using one = await openBilling(engine, { billing })
    await using receiver = await startReceiver()
    const created = await one.core.endpoints.create({ name: 'a', url: receiver.url })
    receiver.secret = created.secret
    const { id } = await newPayment(one.core)
    await sql`update billing.payments set created_at = 'infinity'`.execute(one.database.db)
    await sendFake(one.core, id, 'success')
    await one.core.work()
    await until(() => receiver.taken.length === 1, { what: 'it is sent' })
    const [first] = receiver.received
    assert.deepEqual([first?.event.type, first?.event.data], ['PaymentSucceeded', {}])
    const after = await insertEvent(one.database.db)
    await until(() => receiver.taken.length === 2, { what: 'so is the next' })
    assert.equal(receiver.taken[1], after)
    const { data } = await one.core.events.feed({ after: 'start' })
    assert.deepEqual(
      data.map((event) => JSON.stringify(event.toJSON().data)),
      ['{}', '{}'],
    )
  })
})
