import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Database } from '../../src/database/connect.ts'
import { writeOwner } from '../../src/database/embedded/owner-file.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { deploy } from '../support/deployment.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startLocalService, type LocalService } from '../support/local-service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { assertFinding, doctor } from './doctor.ts'

const payment = '--gateway fake --amount 1999 --currency UAH --payable order:42'

async function run(args: string, cwd: string, env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await runHosted(args.split(' '), { cwd, env })
  return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') }
}

async function callsIn(database: Database): Promise<number> {
  const { rows } = await database.pool.query('select from billing.webhook_calls')
  return rows.length
}

describe('commands beside a service that got its port elsewhere', () => {
  const folder = temporaryFolder()
  const own = { cwd: folder.path }
  let service: LocalService
  before(async () => {
    fillDataFolder(join(own.cwd, '.quittance'))
    service = await startLocalService(own)
  })
  after(async () => {
    await service.stop()
    folder.remove()
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
})

test('where a service runs is where commands look; where one was killed they do not any more', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, '.quittance')
  mkdirSync(data)
  const service = { url: 'http://127.0.0.1:4711', origin: 'http://localhost:4711' }
  const noBodysPid = 2 ** 31 - 2
  for (const [pid, port] of [
    [process.pid, 4711],
    [noBodysPid, 3000],
  ]) {
    assert.ok(pid)
    writeOwner(data, { pid, service })
    const { stdout } = await run('gateways', folder.path)
    assert.match(stdout, new RegExp(`http://localhost:${port}/billing/`))
  }
})

onPostgres((engine) => {
  test('on PostgreSQL, a command recognises each service by its database', async () => {
    await using ends = new AsyncDisposableStack()
    const own = await deploy(engine)
    ends.defer(() => own.remove())
    const other = await deploy(engine)
    ends.defer(() => other.remove())
    const intake = await startLocalService({ ...own, args: ['--no-worker'] })
    ends.defer(() => intake.stop())
    const APP_URL = intake.url
    const { of } = await doctor({ ...own, env: { ...own.env, APP_URL } })
    assertFinding(of('route'), 'ok', /answers at/)
    const mixed = await doctor({ ...other, env: { ...other.env, APP_URL } })
    const fault =
      /another service answers at .* it works on another database — Correct PORT or APP_URL/
    assertFinding(mixed.of('route'), 'error', fault)
    const database = await own.connect()
    ends.defer(() => database.close())
    await run(`payments create ${payment}`, other.cwd, other.env)
    const sent = await run(`send fake --url ${APP_URL}/billing/webhooks/fake`, other.cwd, other.env)
    assert.equal(sent.code, 1)
    assert.match(sent.stderr, /works on another database than this command — Give --url/)
    assert.equal(await callsIn(database), 0)
  })
})
