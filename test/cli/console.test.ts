import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openBrowser } from '../console/browser.ts'
import { consolePath, signIn, signInPath } from '../console/console-service.ts'
import { embedded, onPostgres } from '../support/databases.ts'
import { until } from '../support/billing.ts'
import { childrenOf } from '../support/children-of.ts'
import { apiToken, deploy, deployOpen, type OpenDeployment } from '../support/deployment.ts'
import { freePort, startService, startWorker, type RunningService } from '../support/process.ts'

const browse = (url: string) => openBrowser((request) => fetch(request), url)

const statusAt = async (url: string) => (await fetch(url, { redirect: 'manual' })).status

const consoleLine = ({ stdout }: RunningService) =>
  stdout.find((line) => line.startsWith('  console '))

test('in development the start prints a link that signs in, once', async () => {
  const deployment = await deploy(embedded)
  const { BILLING_API_TOKEN: _none, ...env } = deployment.env
  const service = await startService({ ...deployment, env, args: ['--json'] })
  const said = JSON.parse(await service.line(/^\{"url"/)) as Record<string, string>
  const link = new URL(said['console'] ?? '')
  assert.equal(link.origin, service.url)
  assert.equal(link.pathname, `${signInPath}/once`)
  const once = async () => {
    const answer = await fetch(link, { redirect: 'manual' })
    return [answer.status, answer.headers.get('location')]
  }
  assert.deepEqual(await once(), [303, consolePath])
  assert.deepEqual(await once(), [403, null])
  // So does the token of the run.
  await signIn(browse(service.url), said['api_token'] ?? '')
  assert.equal((await service.stop()).code, 0)
  await deployment.remove()
})

onPostgres((engine) => {
  describe('in production', () => {
    let deployment: OpenDeployment
    let env: Readonly<Record<string, string>>
    before(async () => {
      deployment = await deployOpen(engine)
      env = {
        ...deployment.env,
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        APP_URL: 'https://pay.example',
      }
    })
    after(() => deployment.remove())

    test('there is no console, unless it is asked for', async () => {
      const service = await startService({ ...deployment, env })
      assert.equal(consoleLine(service), undefined)
      for (const path of ['', '/sign-in', '/sign-in/once?key=x', '/payments']) {
        assert.equal(await statusAt(service.url + consolePath + path), 404, path)
      }
      await service.stop()
    })

    test('BILLING_CONSOLE=on opens it, to whoever has a token, and by no link', async () => {
      const on = { ...env, BILLING_CONSOLE: 'on', BILLING_CONSOLE_HOSTS: 'admin.example' }
      const service = await startService({ ...deployment, env: on })
      assert.equal(consoleLine(service), `  console     ${service.url}${consolePath}`)
      const browser = await signIn(browse(service.url), apiToken)
      assert.equal((await browser.open(`${consolePath}/payments`)).status, 200)
      await service.stop()
      const all = [...service.stdout, ...service.stderr].join('\n')
      assert.ok(!all.includes(apiToken))
    })

    test('on the port for operations it is there alone, of serve and of work', async () => {
      const [ofService, ofWorker] = [await freePort(), await freePort()]
      const on = { ...env, BILLING_CONSOLE: 'on' }
      const service = await startService({
        ...deployment,
        env: { ...on, BILLING_OPERATIONS_PORT: String(ofService) },
      })
      const worker = await startWorker({
        ...deployment,
        env: { ...on, BILLING_OPERATIONS_PORT: String(ofWorker) },
      })
      const operations = `http://127.0.0.1:${ofService}`
      assert.equal(consoleLine(service), `  console     ${operations}${consolePath}`)
      assert.equal(await statusAt(service.url + signInPath), 404)
      const browser = await signIn(browse(operations), apiToken)
      assert.equal((await browser.open(`${consolePath}/payments`)).status, 200)
      await signIn(browse(`http://127.0.0.1:${ofWorker}`), apiToken)
      await worker.stop()
      await service.stop()
    })

    test('several processes have one on that port, whichever of them serve', async () => {
      const operations = `http://127.0.0.1:${await freePort()}`
      const service = await startService({
        ...deployment,
        env: { ...env, BILLING_CONSOLE: 'on', BILLING_OPERATIONS_PORT: new URL(operations).port },
        args: ['--processes', '2'],
      })
      assert.equal(await statusAt(service.url + signInPath), 404)
      const browser = await signIn(browse(operations), apiToken)
      assert.equal((await browser.open(`${consolePath}/payments`)).status, 200)
      // What is done there is in the sum of all.
      const metrics = await (await fetch(`${operations}/metrics`)).text()
      assert.match(metrics, /^quittance_sign_ins_total\{result="signed_in"\} 1$/m)
      // It starts before the others, and its end is nothing to them.
      const [ofConsole = 0, ...serving] = childrenOf(service.child.pid)
      process.kill(ofConsole, 'SIGKILL')
      const isBack = async () => (await statusAt(operations + signInPath).catch(() => 0)) === 200
      assert.equal(await statusAt(`${service.url}/healthz`), 200)
      await until(isBack, { what: 'the console is there again', limitMs: 60_000 })
      const now = childrenOf(service.child.pid)
      assert.ok(serving.length === 2 && serving.every((pid) => now.includes(pid)))
      await service.stop()
    })
  })
})
