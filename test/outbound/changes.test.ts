import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { coreOf } from '../../src/billing/create-core.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import { openBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { insertEvent } from './events-in-feed.ts'
import { startReceiver, type Receiver } from './receiver.ts'

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
    const keepComing = setInterval(() => void insertEvent(billing.database.db), 100)
    try {
      await until(() => before.taken.length > 3, { what: 'they come' })
      await endpoints.update('shop', { url: after.url })
      await until(() => after.taken.length > 3, { what: 'they come to the new URL' })
      const last = before.received.length
      await until(() => after.taken.length > 8, { what: 'more of them' })
      assert.equal(before.received.length, last)
    } finally {
      clearInterval(keepComing)
    }
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

  test('one that is declared elsewhere, with another URL and secret, is not sent to from here', async () => {
    const declared = (receiver: Receiver): BillingOptions => {
      receiver.secret = newSecret()
      return { forward: { endpoints: { shop: { url: receiver.url, secret: receiver.secret } } } }
    }
    await using before = await startReceiver()
    await using after = await startReceiver()
    await using old = await openBilling(engine, declared(before))
    await old.core.work()
    await insertEvent(old.database.db)
    await until(() => before.taken.length === 1, { what: 'the old one is sent to' })

    // The next deployment has started, and ends again: what it declares stays.
    const next = coreOf(createRuntime({ database: { url: old.url ?? '' }, ...declared(after) }))
    await next.work()
    const { endpoints } = old.core
    await until(async () => (await endpoints.get('shop'))?.url === after.url, { what: 'its URL' })
    await insertEvent(old.database.db)
    await until(() => after.taken.length === 1, { what: 'the new one is sent to' })
    await next.close()
    await insertEvent(old.database.db)
    const { events } = old.core
    await until(async () => (await events.feed({ after: 'start' })).data.length === 3, {
      what: 'it is in the feed',
    })
    const again = coreOf(createRuntime({ database: { url: old.url ?? '' }, ...withUrl(after) }))
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
    const other = coreOf(createRuntime({ ...withKey, database: { url: declaring.url ?? '' } }))
    await assert.rejects(other.endpoints.rotateSecret('shop'), { code: 'endpoint_declared' })
    await other.close()
  })
})

function withUrl({ url, secret }: Receiver): BillingOptions {
  return { forward: { endpoints: { shop: { url, secret } } } }
}
