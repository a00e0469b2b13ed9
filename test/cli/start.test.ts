import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { beginRequest } from '../faults/raw-request.ts'
import { onPostgres } from '../support/databases.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startService, startWorker, type RunningService } from '../support/process.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const run = promisify(execFile)

interface ShownPayment {
  readonly status: string
  readonly events: readonly { readonly type: string }[]
}

/** Looks again until it holds; processing follows the answer. */
async function eventually<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const seen = await look()
    if (holds(seen)) return seen
    if (performance.now() > deadline) assert.fail(`still ${JSON.stringify(seen)}`)
    await new Promise((wait) => setTimeout(wait, 25))
  }
}

/** A line of the start's output, run by the shell as a person would. */
async function runShown(service: RunningService, pattern: RegExp): Promise<string> {
  const line = await service.line(pattern)
  const { stdout } = await run('sh', ['-c', `${line.trim()} --silent --show-error`])
  return stdout
}

const settle = /^ {2}curl -X POST /
const show = /^ {2}curl -H /

async function shownPayment(service: RunningService): Promise<ShownPayment> {
  return JSON.parse(await runShown(service, show)) as ShownPayment
}

describe('the start without configuration', () => {
  let folder: TemporaryFolder
  let service: RunningService
  before(async () => {
    folder = temporaryFolder()
    fillDataFolder(join(folder.path, '.quittance'))
    service = await startService({ cwd: folder.path })
    await service.line(show)
  })
  after(async () => {
    await service.stop()
    folder.remove()
  })

  test('shows the address, the gateways and a token for the management API', async () => {
    const shown = service.stdout.join('\n')
    assert.ok(shown.includes(`listening   ${service.url}`), shown)
    assert.match(shown, /fake: configured/)
    assert.match(shown, /stripe: not configured: set STRIPE_SIGNING_SECRET/)
    const [, token = ''] = /token of this run: (\S+)/.exec(shown) ?? []
    const ask = (authorization: string) =>
      fetch(`${service.url}/billing/api/gateways`, { headers: { authorization } })
    assert.equal((await ask(`Bearer ${token}`)).status, 200)
    assert.equal((await ask('Bearer guess')).status, 401)
  })

  test('keeps the database in .quittance, which only its owner may enter', () => {
    assert.equal(statSync(join(folder.path, '.quittance')).mode & 0o777, 0o700)
  })

  test('shows a curl that settles the sample payment, and one that shows it', async () => {
    assert.equal((await shownPayment(service)).status, 'pending')
    assert.deepEqual(JSON.parse(await runShown(service, settle)), { message: 'ok' })
    const paid = await eventually(
      () => shownPayment(service),
      ({ status }) => status === 'paid',
    )
    assert.deepEqual(
      paid.events.map(({ type }) => type),
      ['PaymentSucceeded'],
    )
  })
})

describe('a stopped service', () => {
  test('ends with exit code 0 on SIGTERM and starts again with the same sample payment', async () => {
    using folder = temporaryFolder()
    fillDataFolder(join(folder.path, '.quittance'))
    const first = await startService({ cwd: folder.path })
    const firstLine = await first.line(/A sample payment is pending/)
    await first.line(show)
    const ending = await first.stop()
    assert.deepEqual([ending.code, ending.signal], [0, null])
    const second = await startService({ cwd: folder.path })
    try {
      assert.equal(await second.line(/A sample payment is pending/), firstLine)
    } finally {
      await second.stop()
    }
  })

  test('serve --json prints one line of JSON', async () => {
    using folder = temporaryFolder()
    fillDataFolder(join(folder.path, '.quittance'))
    const service = await startService({ cwd: folder.path, args: ['--json'] })
    const shown: unknown = JSON.parse(await service.line(/^\{"url"/))
    assert.deepEqual(shown, { ...(shown as object), url: service.url, gateways: ['fake'] })
    assert.equal((await service.stop()).stdout.length, 1)
  })

  test('a configured token is not printed; the curl takes it from the environment', async () => {
    using folder = temporaryFolder()
    fillDataFolder(join(folder.path, '.quittance'))
    const token = 'configured-token-of-nobody'
    const env = { BILLING_API_TOKEN: token }
    const spoken = await startService({ cwd: folder.path, env })
    const line = await spoken.line(show)
    const { stdout } = await run('sh', ['-c', `${line.trim()} --silent --show-error`], { env })
    assert.equal((JSON.parse(stdout) as ShownPayment).status, 'pending')
    const first = await spoken.stop()
    const asJson = await startService({ cwd: folder.path, env, args: ['--json'] })
    const shown = JSON.parse(await asJson.line(/^\{"url"/)) as { readonly api_token: string }
    assert.equal(shown.api_token, '$BILLING_API_TOKEN')
    const second = await asJson.stop()
    const said = [first, second].flatMap(({ stdout: out, stderr }) => [...out, ...stderr])
    assert.doesNotMatch(said.join('\n'), new RegExp(token))
  })

  test('a killed service leaves a database that opens again', async () => {
    using folder = temporaryFolder()
    fillDataFolder(join(folder.path, '.quittance'))
    const first = await startService({ cwd: folder.path })
    const firstLine = await first.line(/A sample payment is pending/)
    await first.kill()
    const second = await startService({ cwd: folder.path })
    assert.equal(await second.line(/A sample payment is pending/), firstLine)
    assert.equal((await second.stop()).code, 0)
  })

  test('a second signal ends the process at once, with exit code 1', async () => {
    using folder = temporaryFolder()
    fillDataFolder(join(folder.path, '.quittance'))
    const service = await startService({ cwd: folder.path })
    await service.line(show)
    // A request that never ends keeps the orderly stop waiting.
    const { socket } = await beginRequest(service.url, 100)
    socket.write('{')
    service.child.kill('SIGTERM')
    await service.line(/"stopping"/)
    const ending = await service.stop()
    socket.destroy()
    assert.deepEqual([ending.code, ending.signal], [1, null])
  })
})

onPostgres((engine) => {
  test('serve --no-worker stores; a worker process applies; both end with 0 on SIGTERM', async () => {
    const { url = '', drop } = await engine.create()
    using folder = temporaryFolder()
    const options = { cwd: folder.path, env: { DATABASE_URL: url } }
    const service = await startService({ ...options, args: ['--no-worker'] })
    try {
      await runShown(service, settle)
      await new Promise((wait) => setTimeout(wait, 300))
      assert.equal((await shownPayment(service)).status, 'pending')
      const worker = await startWorker(options)
      await eventually(
        () => shownPayment(service),
        ({ status }) => status === 'paid',
      )
      assert.equal((await worker.stop()).code, 0)
    } finally {
      assert.equal((await service.stop()).code, 0)
      await drop()
    }
  })
})
