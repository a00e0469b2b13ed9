import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { consolePath, signInPath } from '../console/console-service.ts'
import { onPostgres } from '../support/databases.ts'
import {
  apiToken,
  createOverHttp,
  deploy,
  postFake,
  type Deployment,
} from '../support/deployment.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { runCommand, startService, type RunningService } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a port that is in use ends the start with one line, and its embedded database', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  using folder = temporaryFolder()
  fillDataFolder(join(folder.path, '.quittance'))
  const port = String((taken.address() as AddressInfo).port)
  const ending = await runCommand(['serve'], { cwd: folder.path, env: { PORT: port } })
  taken.close()
  assert.deepEqual([ending.code, ending.stdout], [1, []])
  assert.deepEqual(ending.stderr.length, 1, ending.stderr.join('\n'))
  assert.match(ending.stderr[0] ?? '', new RegExp(`^quittance: port ${port} is in use — .*PORT`))
})

const blocking = `export default { listeners: { blocking: { on: 'PaymentSucceeded', run() {
  // As a loop without an end, which would cost ten seconds.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
} } } }`

onPostgres((engine) => {
  let deployment: Deployment
  let service: RunningService
  before(async () => {
    deployment = await deploy(engine)
    writeFileSync(join(deployment.cwd, 'quittance.config.js'), blocking)
    const tokens = { BILLING_API_TOKEN: `${apiToken},former-${apiToken}` }
    const env = { ...deployment.env, ...tokens }
    service = await startService({ ...deployment, env, args: ['--json'] })
  })
  after(async () => {
    await service.kill()
    await deployment.remove()
  })

  test('serve --json prints one line, with a link to the console that signs in once', async () => {
    const said = JSON.parse(await service.line(/^\{"url"/)) as Record<string, unknown>
    const link = new URL(String(said['console']))
    assert.deepEqual(
      [said['url'], said['gateways'], said['api_token'], link.origin, link.pathname],
      [service.url, ['fake'], '${BILLING_API_TOKEN%%,*}', service.url, `${signInPath}/once`],
    )
    const signIn = async () => {
      const answer = await fetch(link, { redirect: 'manual' })
      return [answer.status, answer.headers.get('location')]
    }
    assert.deepEqual(await signIn(), [303, consolePath])
    assert.deepEqual(await signIn(), [403, null])
  })

  test('a listener that blocks the main thread ends the process after ten seconds, with one line', async () => {
    const id = newUuid()
    assert.ok(await createOverHttp(service.url, id))
    assert.equal(await postFake(service.url, id, 'success'), 200)
    const { signal, stdout, stderr } = await service.ended
    assert.equal(signal, 'SIGKILL')
    const lines = stderr.filter((text) => text.startsWith('quittance: '))
    assert.equal(lines.length, 1, stderr.join('\n'))
    assert.match(lines[0] ?? '', /main thread did not answer for 10 s — /)
    assert.equal(stdout.length, 1)
    assert.ok(![...stdout, ...stderr].join('\n').includes(apiToken))
  })
})
