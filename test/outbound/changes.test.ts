import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { Webhook } from 'standardwebhooks'
import { coreOf } from '../../src/billing/create-core.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { openBilling, unhurried } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onPostgres } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { insertEvent } from './events-in-feed.ts'
import { accept, refuse, startReceiver, type Receiver } from './receiver.ts'
import { runningClock } from './running-clock.ts'

const withKey: BillingOptions = { billing: { encryptionKey: randomBytes(32).toString('base64') } }
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

const verifies = (secret: string, { received }: Receiver) => {
  const last = received.at(-1)
  return last !== undefined && new Webhook(secret).verify(last.body, last.headers) !== undefined
}

onPostgres((engine) => {
  test('a new URL holds at once, also while events keep coming', async () => {
    await using billing = await openBilling(engine, withKey)
    await using before = await startReceiver()
    await using after = await startReceiver()
    const { endpoints } = billing.core
    const { secret } = await endpoints.create({ name: 'shop', url: before.url })
    before.secret = secret
    after.secret = secret
    await billing.core.work()
    /** One more comes with each look. */
    const comingUntil = (isSo: () => boolean, what: string) => {
      const comesAndIsSo = async () => {
        await insertEvent(billing.database.db)
        return isSo()
      }
      return until(comesAndIsSo, { what })
    }
    await comingUntil(() => before.taken.length > 3, 'they come')
    await Promise.all([
      endpoints.update('shop', { url: after.url }),
      comingUntil(() => after.taken.length > 3, 'they come to the new URL'),
    ])
    const last = before.received.length
    await comingUntil(() => after.taken.length > 8, 'more of them')
    assert.equal(before.received.length, last)
  })

  test('what is wanted from now on comes, also while it was just at work for less', async () => {
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    const { endpoints } = billing.core
    const { db } = billing.database
    const name = 'shop'
    const eventTypes = ['PaymentMethodAttached' as const]
    receiver.secret = (await endpoints.create({ name, url: receiver.url, eventTypes })).secret
    await billing.core.work()
    await insertEvent(db)
    // It is written, too: nothing but the next event wakes whoever sends.
    await until(async () => (await endpoints.get(name))?.position === 1, { what: 'the first' })
    await endpoints.update(name, { eventTypes: [...eventTypes, 'PaymentMethodDetached'] })
    const more = await Promise.all(
      [1, 2, 3].map(() => insertEvent(db, newUuid(), 'PaymentMethodDetached')),
    )
    await until(() => receiver.taken.length === 4, { what: 'so do those of the other type' })
    assert.deepEqual(new Set(receiver.taken.slice(1)), new Set(more))
    await until(async () => (await endpoints.get(name))?.position === 4, { what: 'it is at 4' })
  })

  test('a probe that fails while the URL is corrected leaves its event to the new one', async () => {
    await using billing = await openBilling(engine, withKey)
    await using before = await startReceiver()
    await using after = await startReceiver()
    const { endpoints } = billing.core
    const { db } = billing.database
    const held = Promise.withResolvers<void>()
    before.answer = (received, response) =>
      void held.promise.then(() => refuse(500)(received, response))
    before.secret = (await endpoints.create({ name: 'shop', url: before.url })).secret
    after.secret = before.secret
    await sql`update billing.endpoints set failures = 5, failing_since = now()`.execute(db)
    const id = await insertEvent(db)
    await billing.core.work()
    await until(() => before.received.length === 1, { what: 'it is probed' })
    await endpoints.update('shop', { url: after.url })
    held.resolve()
    await until(() => after.taken.length === 1, { what: 'it comes to the new URL' })
    assert.deepEqual(after.taken, [id])
  })

  test('how an endpoint fared at one URL says nothing of the next', async () => {
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    const { endpoints } = billing.core
    const { db } = billing.database
    const created = await endpoints.create({ name: 'shop', url: 'http://127.0.0.1:9/hooks' })
    receiver.secret = created.secret
    const fails = () =>
      sql`update billing.endpoints set failures = 9, failing_since = now() - interval '4 days',
        next_at = now() + interval '1 day'`.execute(db)
    await fails()
    const same = await endpoints.update('shop', { url: created.endpoint.url, ratePerSecond: 50 })
    assert.equal(same.failures, 9)
    const { failures, failingSince, nextAt } = await endpoints.update('shop', {
      url: receiver.url,
    })
    assert.deepEqual([failures, failingSince, nextAt], [0, null, null])
    await billing.core.work()
    await insertEvent(db)
    await until(() => receiver.taken.length === 1, { what: 'it is sent to at once' })
  })

  test('a process without the key leaves an endpoint to the others', async () => {
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    receiver.secret = (
      await billing.core.endpoints.create({ name: 'shop', url: receiver.url })
    ).secret
    const captured = capturedLog()
    const database = { url: billing.url ?? '' }
    const without = coreOf(createRuntime({ database, log: captured.log }, unhurried))
    await insertEvent(billing.database.db)
    await without.work()
    const refusals = () => captured.lines.filter(({ msg }) => /decrypted/.test(String(msg)))
    await until(() => refusals().length > 0, { what: 'it has no key' })
    await billing.core.work()
    await until(() => receiver.taken.length === 1, { what: 'the other has' })
    assert.equal(refusals().length, 1)
    await without.close()
  })

  test('one that is deleted while it is sent to gets nothing more, and nothing of it stands', async (t) => {
    const { endTrust } = runningClock(t)
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    const { endpoints } = billing.core
    const held = Promise.withResolvers<void>()
    receiver.answer = (received, response) =>
      void held.promise.then(() => accept(received, response))
    const { endpoint, secret } = await endpoints.create({ name: 'shop', url: receiver.url })
    receiver.secret = secret
    await billing.core.work()
    await insertEvent(billing.database.db)
    await until(() => receiver.received.length === 1, { what: 'it is under way' })
    await endpoints.remove('shop')
    endTrust()
    await insertEvent(billing.database.db)
    held.resolve()
    await using next = await startReceiver()
    next.secret = (await endpoints.create({ name: 'shop', url: next.url })).secret
    await insertEvent(billing.database.db)
    await until(() => next.taken.length === 1, { what: 'the next of this name goes on' })
    // What was sent to either is written then, if it is at all.
    await billing.core.close()
    const client = new pg.Client(billing.url)
    await client.connect()
    const { rows } = await client.query(
      `select endpoint_id = '${endpoint.id}' as "isGone" from billing.forward_attempts`,
    )
    await client.end()
    assert.deepEqual([receiver.received.length, rows], [1, [{ isGone: false }]])
  })

  test('secrets that are exchanged twice at the same time: both are stored, and both sign', async () => {
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    const { endpoints } = billing.core
    await endpoints.create({ name: 'shop', url: receiver.url })
    const secrets = await Promise.all([1, 2, 3].map(() => endpoints.rotateSecret('shop')))
    receiver.secret = secrets[0]?.secret ?? ''
    await billing.core.work()
    await insertEvent(billing.database.db)
    await until(() => receiver.taken.length === 1, { what: 'it is taken' })
    for (const { secret } of secrets) assert.ok(verifies(secret, receiver))
  })

  test('one that is declared elsewhere, with another URL and secret, is not sent to from here', async (t) => {
    const { endTrust } = runningClock(t)
    const declared = (receiver: Receiver): BillingOptions => {
      receiver.secret = newSecret()
      return { forward: { endpoints: { shop: { url: receiver.url, secret: receiver.secret } } } }
    }
    await using before = await startReceiver()
    await using after = await startReceiver()
    await using old = await openBilling(engine, declared(before))
    await old.core.work()
    // What is written before it is there is from before it.
    await until(async () => (await old.core.endpoints.get('shop')) !== undefined, {
      what: 'it is written down',
    })
    await insertEvent(old.database.db)
    await until(() => before.taken.length === 1, { what: 'the old one is sent to' })

    // The next deployment has started, and ends again: what it declares stays.
    const next = coreOf(
      createRuntime({ database: { url: old.url ?? '' }, ...declared(after) }, unhurried),
    )
    t.after(() => next.close())
    await next.work()
    const { endpoints } = old.core
    await until(async () => (await endpoints.get('shop'))?.url === after.url, { what: 'its URL' })
    // As long as its lease is believed in, the old URL may get it.
    endTrust()
    await insertEvent(old.database.db)
    await until(() => after.taken.length === 1, { what: 'the new one is sent to' })
    await next.close()
    await insertEvent(old.database.db)
    const { events } = old.core
    await until(async () => (await events.feed({ after: 'start' })).data.length === 3, {
      what: 'it is in the feed',
    })
    const again = coreOf(
      createRuntime({ database: { url: old.url ?? '' }, ...withUrl(after) }, unhurried),
    )
    t.after(() => again.close())
    await again.work()
    await until(() => after.taken.length === 2, { what: 'a process sends that has its secret' })
    await again.close()
    assert.deepEqual([before.received.length, before.forged, after.forged], [1, [], []])
  })

  test('the secret of an endpoint that was declared is not exchanged: it is nowhere here', async () => {
    await using receiver = await startReceiver()
    receiver.secret = newSecret()
    await using declaring = await openBilling(engine, withUrl(receiver))
    await declaring.core.work()
    await until(async () => (await declaring.core.endpoints.list()).length === 1, {
      what: 'it is written down',
    })
    const other = coreOf(
      createRuntime({ ...withKey, database: { url: declaring.url ?? '' } }, unhurried),
    )
    await assert.rejects(other.endpoints.rotateSecret('shop'), { code: 'endpoint_declared' })
    await other.close()
  })
})

function withUrl({ url, secret }: Receiver): BillingOptions {
  return { forward: { endpoints: { shop: { url, secret } } } }
}
