import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { connect } from '../../src/database/connect.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { doctor } from '../cli/doctor.ts'
import { startCutProxy, type CutProxy } from '../support/cut-proxy.ts'
import { onPostgres } from '../support/databases.ts'
import {
  apiToken,
  assertPaidOnce,
  createOverHttp,
  deployOpen,
  finished,
  postFake,
  type OpenDeployment,
} from '../support/deployment.ts'
import { noPooler, startPooler, type Pooler } from '../support/pooler.ts'
import { alter } from '../support/unusual-settings.ts'
import { runCommand, startService, startWorker } from '../support/process.ts'

onPostgres((engine) => {
  let deployment: OpenDeployment
  let direct: CutProxy
  let pooler: Pooler
  let env: Record<string, string>

  before(async () => {
    if (noPooler !== false) return
    deployment = await deployOpen(engine)
    const { DATABASE_URL = '' } = deployment.env
    direct = await startCutProxy(DATABASE_URL)
    pooler = await startPooler(DATABASE_URL, { ignoresLimits: true })
    env = { ...deployment.env, DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: direct.url }
  })
  after(async () => {
    if (noPooler !== false) return
    await pooler.stop()
    await direct.close()
    await deployment.remove()
  })

  test(
    'a pooler that refuses our limits is named, with what to set',
    { skip: noPooler },
    async () => {
      const strict = await startPooler(deployment.env['DATABASE_URL'] ?? '', {
        ignoresLimits: false,
      })
      const { cwd } = deployment
      const options = { cwd, env: { ...deployment.env, DATABASE_URL: strict.url } }
      const { code, stderr } = await runCommand(['migrate'], options)
      await strict.stop()
      assert.equal(code, 1)
      assert.match(stderr.join('\n'), /a pooler refuses our limits: .*ignore_startup_parameters/)
    },
  )

  test(
    'behind a pooler, a setting that changes statements is refused by its name, and none is set',
    { skip: noPooler },
    async () => {
      await using place = await engine.create().then((made) => {
        return { url: made.url ?? '', [Symbol.asyncDispose]: () => made.drop() }
      })
      await alter(place.url, {
        default_transaction_isolation: 'serializable',
        array_nulls: 'off',
        idle_session_timeout: '1h',
      })
      const between = await startPooler(place.url, { ignoresLimits: true })
      const opened = (url: string) =>
        connect({
          target: { kind: 'postgres', url },
          log: silentLog,
          poolSize: 1,
          applicationName: 'test settings',
        })
      const pooled = opened(between.url)
      const direct = opened(place.url)
      try {
        await assert.rejects(pooled.pool.query('select 1'), (error) => {
          assert.ok(isQuittanceError(error))
          assert.equal(error.code, 'database_setting_unsuitable')
          assert.match(
            error.message,
            /default_transaction_isolation = 'serializable' and array_nulls = 'off'/,
          )
          assert.match(error.fix, /alter role NAME set default_transaction_isolation = 'read co/)
          return true
        })
        const shown = `select current_setting('default_transaction_isolation') as isolation,
          current_setting('idle_session_timeout') as idle`
        const { rows } = await direct.pool.query(shown)
        assert.deepEqual(rows, [{ isolation: 'read committed', idle: '0' }])
        const other = new pg.Client({ connectionString: between.url })
        await other.connect()
        const { rows: left } = await other.query(shown)
        await other.end()
        assert.deepEqual(left, [{ isolation: 'serializable', idle: '1h' }])
      } finally {
        await Promise.all([pooled.close(), direct.close()])
        await between.stop()
      }
    },
  )

  test('callbacks and refunds are right behind a pooler', { skip: noPooler }, async () => {
    const { cwd } = deployment
    const service = await startService({ cwd, env, args: ['--no-worker'] })
    const workers = await Promise.all([1, 2].map(() => startWorker({ cwd, env })))
    assert.match(
      await service.line(/a pooler swallows our limits/),
      /statement_timeout.*alter role NAME set statement_timeout/,
    )
    const ids = Array.from({ length: 60 }, () => randomUUID())
    await Promise.all(ids.map((id) => createOverHttp(service.url, id)))
    const twice = [...ids, ...ids]
    const statuses = await Promise.all(twice.map((id) => postFake(service.url, id, 'success')))
    assert.deepEqual([...new Set(statuses)], [200])
    await finished(deployment.database)
    await assertPaidOnce(deployment.database, ids)
    const [refunded = ''] = ids
    const answer = await fetch(`${service.url}/billing/api/payments/${refunded}/refunds`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id: randomUUID(), amount: 40 }),
    })
    assert.equal(answer.status, 201, await answer.text())
    for (const one of [service, ...workers]) assert.equal((await one.stop()).code, 0)
  })

  test(
    'no worker is seen where none runs any more, although the pooler keeps its connections',
    { skip: noPooler },
    async () => {
      const { cwd } = deployment
      // Without the direct URL, it listens through the pooler.
      const options = { cwd, env: { ...deployment.env, DATABASE_URL: pooler.url } }
      const workers = async () => (await doctor(options)).of('worker').found
      const running = await Promise.all([1, 2].map(() => startWorker(options)))
      assert.equal(await workers(), '2 are running')
      for (const one of running) await one.stop()
      assert.match(await workers(), /no worker is running/)
    },
  )

  test('workers listen past the pooler', { skip: noPooler }, () => {
    const listening = direct.statements.filter((text) => text === 'listen "quittance_calls"')
    assert.equal(listening.length, 2)
  })
})
