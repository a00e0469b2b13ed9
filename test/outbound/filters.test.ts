import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
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
})
