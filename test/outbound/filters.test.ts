import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { insertSubscription } from '../support/subscription-rows.ts'
import { until } from '../support/until.ts'
import { startReceiver } from './receiver.ts'

const options = { billing: { encryptionKey: randomBytes(32).toString('base64') } }

async function pay({ core }: TestBilling): Promise<void> {
  const { id } = await newPayment(core)
  await sendFake(core, id, 'success')
}

const isAt = (billing: TestBilling, position: number) =>
  until(async () => (await billing.core.endpoints.get('shop'))?.position === position, {
    what: `it is at ${position}`,
  })

onPostgres((engine) => {
  test('an endpoint for one gateway gets nothing of others, not as a probe either, unless somebody resends it', async () => {
    await using billing = await openBilling(engine, options)
    await using receiver = await startReceiver()
    const { endpoints, events } = billing.core
    const { secret } = await endpoints.create({
      name: 'shop',
      url: receiver.url,
      gateways: ['stripe'],
    })
    receiver.secret = secret
    await billing.core.work()
    await pay(billing)
    await isAt(billing, 1)
    // It has failed so often that only a probe is sent.
    await sql`update billing.endpoints set failures = 5, failing_since = statement_timestamp()`.execute(
      billing.database.db,
    )
    await pay(billing)
    await pay(billing)
    await isAt(billing, 3)
    assert.deepEqual(receiver.received, [])
    const [event] = (await events.feed({ after: 'start' })).data
    await endpoints.resend('shop', event?.id ?? '')
    await until(() => receiver.taken.length === 1, { what: 'it is sent again' })
    assert.deepEqual(receiver.taken, [event?.id])
    await until(async () => (await endpoints.forwards('shop')).data[0]?.state === 'delivered', {
      what: 'that is written',
    })
  })

  test('an event of a newer version’s type has what it stores and what its row names, and is of that gateway', async () => {
    await using billing = await openBilling(engine)
    const { events } = billing.core
    const subscriptionId = await insertSubscription(billing.database.db)
    const { id: paymentId } = await newPayment(billing.core)
    await sql`insert into billing.events
      (id, dedup_key, type, payment_id, subscription_id, source, data)
      values (${newUuid()}::uuid, 'later:1', 'SubscriptionPraised', ${paymentId}::uuid,
        ${subscriptionId}::uuid, 'service', '{"praised_by":"olena"}')`.execute(billing.database.db)
    const read = async (gateway: string) => (await events.feed({ after: 'start', gateway })).data
    await billing.core.work()
    await until(async () => (await read('fake')).length > 0, { what: 'it is in the feed' })
    assert.deepEqual(await read('stripe'), [])
    const [event] = await read('fake')
    const { data } = event?.toJSON() ?? assert.fail('it is not there')
    assert.deepEqual(Object.keys(data).toSorted(), ['payment', 'praised_by', 'subscription'])
    assert.equal(data['praised_by'], 'olena')
    const idsOf = Object.values(data).map((about) => (about as { id?: string }).id)
    assert.deepEqual(idsOf, [undefined, paymentId, subscriptionId])
  })
})
