import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import pg from 'pg'
import {
  readServerFacts,
  readStandbys,
  replicationFinding,
} from '../../src/cli/doctor/check-database.ts'
import { connect } from '../../src/database/connect.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { assertFinding, doctor } from '../cli/doctor.ts'
import { until } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { apiToken, createOverHttp, postFakeOnce } from '../support/deployment.ts'
import { startOwnServer, type OwnServer } from '../support/own-server.ts'
import { startService, type RunningService } from '../support/process.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

// Other tests wait for no standby: this server is not theirs.
onPostgres(() => {
  let server: OwnServer
  let folder: TemporaryFolder
  let service: RunningService
  let direct: pg.Client
  before(async () => {
    server = await startOwnServer()
    folder = temporaryFolder()
    direct = new pg.Client({ connectionString: server.url })
    await direct.connect()
    const env = { DATABASE_URL: server.url, BILLING_API_TOKEN: apiToken }
    service = await startService({ cwd: folder.path, env })
  })
  after(async () => {
    await service.stop()
    await direct.end()
    await server.stop()
    folder.remove()
  })

  const look = async () => {
    const { of } = await doctor({ cwd: folder.path, env: { DATABASE_URL: server.url } })
    return of('replication')
  }
  const waitFor = async (names: string) => {
    await direct.query(`alter system set synchronous_standby_names = '${names}'`)
    await direct.query('select pg_reload_conf()')
    await until(
      async () => {
        const { rows } = await direct.query('show synchronous_standby_names')
        return (
          (rows as { synchronous_standby_names: string }[])[0]?.synchronous_standby_names === names
        )
      },
      { what: `commits wait for ${names === '' ? 'nobody' : names}` },
    )
  }

  test('doctor: no standby is well, an asynchronous one a warning, one that may not be seen no finding', async () => {
    assertFinding(await look(), 'ok', /no standby/)
    const standby = new pg.Client({
      connectionString: server.url,
      replication: 'true',
      application_name: 'spare',
    } as pg.ClientConfig)
    standby.on('error', () => {})
    await standby.connect()
    standby.query('start_replication physical 0/1000000').catch(() => {})
    await until(
      async () => (await direct.query('select from pg_stat_replication')).rowCount === 1,
      {
        what: 'the standby is connected',
      },
    )
    assertFinding(await look(), 'warning', /asynchronous: spare\. .* — .*synchronous_standby_names/)
    await direct.query('create role watcher login')
    const url = Object.assign(new URL(server.url), { username: 'watcher' }).href
    const target = { kind: 'postgres', url } as const
    const seen = connect({ target, log: silentLog, poolSize: 1, applicationName: 'watcher' })
    const finding = replicationFinding(await readStandbys(seen), await readServerFacts(seen))
    await seen.close()
    assertFinding(finding, 'skipped', /may not see/)
    await standby.end()
  })

  test('no synchronous standby answers: 503 after 2 s, /readyz 503; when it does, the call appears, with one event', async () => {
    const [id, other] = [randomUUID(), randomUUID()]
    for (const one of [id, other]) assert.ok(await createOverHttp(service.url, one))
    await waitFor('absent')
    const isRefused = async () => (await postFakeOnce(service.url, other, 'success')) === 503
    await until(isRefused, { what: 'every process of the server has heard of it' })
    assert.equal(await postFakeOnce(service.url, id, 'success'), 503)
    const problems = async () => {
      const answer = await fetch(`${service.url}/readyz`)
      const { problems: told } = (await answer.json()) as { readonly problems: readonly string[] }
      return answer.status === 503 ? told.join() : ''
    }
    await until(async () => /wait for a synchronous standby/.test(await problems()), {
      what: '/readyz says why',
    })
    assertFinding(await look(), 'error', /absent.*none .*connected/)
    await waitFor('')
    const settled = `select status, (select count(*)::int from billing.events
        where payment_id = payment.id and type = 'PaymentSucceeded') as events
      from billing.payments as payment where id = '${id}'`
    await until(
      async () =>
        ((await direct.query(settled)).rows as { status: string }[])[0]?.status === 'paid',
      { what: 'the call is processed' },
    )
    assert.deepEqual((await direct.query(settled)).rows, [{ status: 'paid', events: 1 }])
    await until(async () => (await problems()) === '', { what: '/readyz has nothing to say' })
  })
})
