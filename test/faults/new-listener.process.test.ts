import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { until } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import {
  apiToken,
  createOverHttp,
  deployOpen,
  postFake,
  type OpenDeployment,
} from '../support/deployment.ts'
import { startService, startWorker, type ProcessOptions } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const teller = `async function teller(event, { tx }) {
  await tx.query('insert into told (type, payment_id) values ($1, $2)', [event.type, event.payment.id])
}`
const olderConfig = `${teller}
export default { listeners: { teller: { on: 'PaymentSucceeded', run: teller } } }`
const newerConfig = `${teller}
export default { listeners: { teller: { on: ['PaymentSucceeded', 'PaymentRefunded'], run: teller } } }`

onPostgres((engine) => {
  let deployment: OpenDeployment
  let database: Database
  let newer: ProcessOptions
  const folder = temporaryFolder()
  before(async () => {
    deployment = await deployOpen(engine)
    database = deployment.database
    writeFileSync(join(deployment.cwd, 'quittance.config.js'), olderConfig)
    writeFileSync(join(folder.path, 'quittance.config.js'), newerConfig)
    newer = { cwd: folder.path, env: deployment.env }
  })
  after(async () => {
    await deployment.remove()
    folder[Symbol.dispose]()
  })

  const refund = async (url: string, id: string, refundId: string) => {
    const answer = await fetch(`${url}/billing/api/payments/${id}/refunds`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id: refundId }),
    })
    return { answer, body: (await answer.json()) as { code?: string } }
  }
  const toldOf = async (id: string) => {
    const { rows } = await sql<{ type: string }>`
      select type from told where payment_id = ${id}::uuid`.execute(database.db)
    return rows.map(({ type }) => type)
  }
  const paidIn = (id: string) =>
    until(async () => (await toldOf(id)).length === 1, { what: 'its event is dispatched' })

  test('a service of before a new listener refuses refunds once that is registered, and loses none', async () => {
    const older = await startService({ ...deployment, args: ['--no-worker'] })
    const olderWorker = await startWorker(deployment)
    const [first, second] = [randomUUID(), randomUUID()]
    for (const id of [first, second]) {
      assert.ok(await createOverHttp(older.url, id))
      assert.equal(await postFake(older.url, id, 'success'), 200)
      await paidIn(id)
    }
    // What it looks at once it has looked at.
    const before = await refund(older.url, first, randomUUID())
    assert.equal(before.answer.status, 201)

    const newWorker = await startWorker(newer)
    assert.equal((await olderWorker.ended).code, 1, 'the older worker has ended')
    const refundId = randomUUID()
    const refused = await refund(older.url, second, refundId)
    assert.equal(refused.answer.status, 503)
    assert.equal(refused.body.code, 'listener_missing')
    assert.notEqual(refused.answer.headers.get('retry-after'), null)
    const claimed = sql`select 1 from billing.events where type = 'PaymentRefunded'
      and payment_id = ${refundId}::uuid`
    assert.deepEqual((await claimed.execute(database.db)).rows, [])

    const newService = await startService({ ...newer, args: ['--no-worker'] })
    const done = await refund(newService.url, second, refundId)
    assert.equal(done.answer.status, 201)
    assert.deepEqual(await toldOf(refundId), ['PaymentRefunded'])
    for (const one of [older, newWorker, newService]) await one.stop()
  })
})
