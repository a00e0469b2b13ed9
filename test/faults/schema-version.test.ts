import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createCore } from '../../src/billing/create-core.ts'
import { forEachDatabase, onPostgres } from '../support/databases.ts'
import { createOverHttp, deploy, postFake, type Deployment } from '../support/deployment.ts'
import { runCommand, startService } from '../support/process.ts'

onPostgres((engine) => {
  test('F24: a pending migration refuses: nothing starts, nothing is stored, never 500', async () => {
    const { url = '', drop } = await engine.createEmpty()
    try {
      await using core = createCore({ database: { url } })
      const outdated = { code: 'database_schema_outdated', message: /0001_/ }
      await assert.rejects(core.start(), outdated)
      await assert.rejects(core.work(), outdated)
      const body = Buffer.from(JSON.stringify({ payment_id: randomUUID(), result: 'success' }))
      const answer = await core.receive({ gateway: 'fake', target: '/', headers: {}, body })
      assert.equal(answer.status, 503)
      assert.equal((await core.readiness()).ready, false)
      for (const command of ['serve', 'work']) {
        const env = { DATABASE_URL: url, NODE_ENV: 'production', PORT: '0', HOST: '127.0.0.1' }
        const { code, stderr } = await runCommand([command], { env })
        assert.equal(code, 1, command)
        assert.match(stderr.join('\n'), /lacks \d+ migration.* — Run: quittance migrate/)
      }
    } finally {
      await drop()
    }
  })
})

forEachDatabase((engine) => {
  let deployment: Deployment
  before(async () => {
    deployment = await deploy(engine)
  })
  after(() => deployment.remove())

  test('F84: a schema newer than the code is accepted: old and new versions run side by side', async (t) => {
    const first = await startService(deployment)
    t.after(() => first.kill())
    const database = await deployment.connect()
    // What the next version's migration would do: expand, and note its name.
    await database.pool.query(`alter table billing.payments add column of_tomorrow text`)
    await database.pool.query(
      `insert into billing.migrations (name, timestamp) values ('9999_of_tomorrow', now()::text)`,
    )
    await database.pool.query('create table if not exists told (type text, payment_id uuid)')
    await database.close()
    await settles(first.url)
    assert.equal((await first.stop()).code, 0)

    const second = await startService(deployment)
    t.after(() => second.kill())
    await settles(second.url)
    assert.equal((await second.stop()).code, 0)
    const migrated = await runCommand(['migrate'], deployment)
    assert.equal(migrated.code, 0, migrated.stderr.join('\n'))
  })
})

async function settles(url: string): Promise<void> {
  const id = randomUUID()
  assert.ok(await createOverHttp(url, id))
  assert.equal(await postFake(url, id, 'success'), 200)
}
