import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { sql } from 'kysely'
import { coreOf } from '../../src/billing/create-core.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import { newPayment, openBilling, unhurried } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { startReceiver } from './receiver.ts'

const events = 400
const maxConcurrency = 16
/** So many results may wait to be written, and as many as are under way then. */
const mostUnwritten = 32 + maxConcurrency

/** The server of this URL, so many milliseconds away. */
async function distant(serverUrl: string, milliseconds: number) {
  const { port, hostname } = new URL(serverUrl)
  const later = (from: Socket, to: Socket) => {
    from.on('data', (bytes) => setTimeout(() => to.destroyed || to.write(bytes), milliseconds))
    from.on('error', () => to.destroy())
    from.on('close', () => setTimeout(() => to.destroy(), milliseconds))
  }
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    later(client, upstream)
    later(upstream, client)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return { url: url.href, close: () => server.close() }
}

onPostgres((engine) => {
  test('where an endpoint answers sooner than events are loaded, what a crash would have sent again stays few', async () => {
    await using one = await openBilling(engine)
    await using receiver = await startReceiver()
    const { id } = await newPayment(one.core)
    const { db } = one.database
    await sql`insert into billing.payments (id, gateway, status, amount, currency, payable_type,
        payable_id, checkout)
      select gen_random_uuid(), 'fake', 'paid', amount, currency, payable_type, payable_id, 'closed'
      from billing.payments, generate_series(1, ${events}) where id = ${id}`.execute(db)
    const unwritten: number[] = []
    /** How many each transaction has written: all that was known then. */
    const written = async () => {
      const { rows } = await sql<{ count: number }>`select count(*)::int as count
        from billing.forward_attempts group by xmin::text`.execute(db)
      return rows.map(({ count }) => count)
    }
    const far = await distant(one.url ?? '', 10)
    const billing = { encryptionKey: randomBytes(32).toString('base64') }
    const core = coreOf(createRuntime({ billing, database: { url: far.url } }, unhurried))
    try {
      const endpoint = { name: 'shop', url: receiver.url, maxConcurrency }
      receiver.secret = (await core.endpoints.create(endpoint)).secret
      await sql`insert into billing.events (id, dedup_key, type, payment_id, source)
        select gen_random_uuid(), 'payment:paid:' || id, 'PaymentSucceeded', id, 'call'
        from billing.payments where status = 'paid'`.execute(db)
      await core.work()
      const isDone = async () => {
        const sent = receiver.taken.length
        unwritten.push(sent - (await written()).reduce((sum, count) => sum + count, 0))
        return sent === events
      }
      await until(isDone, { what: 'all are sent', limitMs: 240_000 })
    } finally {
      await core.close()
      far.close()
    }
    const counts = await written()
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      events,
    )
    for (const most of [Math.max(...counts), Math.max(...unwritten)]) {
      assert.ok(most <= mostUnwritten, `${most} were not written`)
    }
  })
})
