import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect, type Database } from '../../src/database/connect.ts'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { onPostgres } from '../support/databases.ts'
import { runHosted } from '../support/command-host.ts'
import { deploy } from '../support/deployment.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startService, type RunningService } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { assertFinding, doctor } from './doctor.ts'

const payment = '--gateway fake --amount 1999 --currency UAH --payable order:42'

/** A folder with an embedded database of its own. */
function installation() {
  const folder = temporaryFolder()
  const dataDir = join(folder.path, '.quittance')
  fillDataFolder(dataDir)
  const open = async () =>
    connect({
      target: { kind: 'embedded', ...(await findEmbedded(dataDir)) },
      log: silentLog,
      poolSize: 1,
      applicationName: 'quittance test',
    })
  return { cwd: folder.path, open, remove: folder.remove }
}

async function run(args: string, cwd: string, env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await runHosted(args.split(' '), { cwd, env })
  return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') }
}

async function callsIn(database: Database): Promise<number> {
  const { rows } = await database.pool.query('select from billing.webhook_calls')
  return rows.length
}

describe('commands beside a service that got its port elsewhere', () => {
  const own = installation()
  let service: RunningService
  before(async () => {
    service = await startService({ cwd: own.cwd })
  })
  after(async () => {
    await service.stop()
    own.remove()
  })

  test('make its URLs, and post to it', async () => {
    const { port } = new URL(service.url)
    const created = await run(`payments create ${payment} --json`, own.cwd)
    const { id, checkout_url: url } = JSON.parse(created.stdout) as Record<string, string>
    assert.equal(new URL(url ?? '').host, `localhost:${port}`)
    assert.match((await run('gateways', own.cwd)).stdout, new RegExp(`localhost:${port}/billing/`))
    const sent = await run('send fake', own.cwd)
    assert.equal(sent.code, 0, sent.stderr)
    assert.ok(sent.stdout.includes(`POST ${service.url}/billing/webhooks/fake`))
    assert.ok(sent.stdout.includes(`success for payment ${id}`))
  })

  test('post to it, and not to the public URL', async () => {
    await run(`payments create ${payment}`, own.cwd)
    const sent = await run('send fake', own.cwd, { APP_URL: 'https://pay.example.com' })
    assert.equal(sent.code, 0, sent.stderr)
    assert.ok(sent.stdout.startsWith(`POST ${service.url}/`))
  })

  test('doctor looks at it', async () => {
    const { port } = new URL(service.url)
    assertFinding((await doctor({ cwd: own.cwd })).of('route'), 'ok', new RegExp(`:${port}/`))
  })

  test('are told of another service at the address that they are given', async () => {
    await using ends = new AsyncDisposableStack()
    const others = installation()
    ends.defer(() => others.remove())
    const other = await startService({ cwd: others.cwd })
    ends.defer(async () => void (await other.stop()))
    const database = await others.open()
    ends.defer(() => database.close())
    // Both folders are copies of one template.
    await database.pool.query('update billing.installation set key = gen_random_uuid()')

    const url = `${other.url}/billing/webhooks/fake`
    await run(`payments create ${payment}`, own.cwd)
    const sent = await run(`send fake --url ${url}`, own.cwd)
    assert.equal(sent.code, 1)
    assert.match(sent.stderr, /works on another database than this command — Give --url/)
    assert.equal(await callsIn(database), 0)
    const { of } = await doctor({ cwd: own.cwd, env: { APP_URL: other.url } })
    assertFinding(of('route'), 'error', /another service answers at .* — Correct PORT or APP_URL/)
  })
})

test('a service that was killed is not where commands look any more', async () => {
  await using ends = new AsyncDisposableStack()
  const own = installation()
  ends.defer(() => own.remove())
  const service = await startService({ cwd: own.cwd })
  await service.kill()
  const { stdout } = await run('gateways', own.cwd)
  assert.match(stdout, /http:\/\/localhost:3000\/billing\//)
})

onPostgres((engine) => {
  test('on PostgreSQL, a command recognises each service by its database', async () => {
    await using ends = new AsyncDisposableStack()
    const own = await deploy(engine)
    ends.defer(() => own.remove())
    const other = await deploy(engine)
    ends.defer(() => other.remove())
    const intake = await startService({ ...own, args: ['--no-worker'] })
    ends.defer(async () => void (await intake.stop()))
    const APP_URL = intake.url
    const { of } = await doctor({ ...own, env: { ...own.env, APP_URL } })
    assertFinding(of('route'), 'ok', /answers at/)
    const mixed = await doctor({ ...other, env: { ...other.env, APP_URL } })
    assertFinding(mixed.of('route'), 'error', /it works on another database/)
    const env = { ...other.env, APP_URL }
    await run(`payments create ${payment}`, other.cwd, env)
    assert.match((await run('send fake', other.cwd, env)).stderr, /another database/)
  })
})
