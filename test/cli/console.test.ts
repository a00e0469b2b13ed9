import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openBrowser } from '../console/browser.ts'
import { consolePath, signIn, signInPath } from '../console/console-service.ts'
import { onPostgres } from '../support/databases.ts'
import { apiToken, deployOpen, type OpenDeployment } from '../support/deployment.ts'
import { freePort } from '../support/free-port.ts'
import { startLocalService } from '../support/local-service.ts'

const browse = (url: string) => openBrowser((request) => fetch(request), url)

const statusAt = async (url: string) => (await fetch(url, { redirect: 'manual' })).status

/** Where the page leads that a browser gets at the address of a service; each is answered. */
async function frontLinks(url: string): Promise<readonly string[]> {
  const answer = await fetch(url, { headers: { accept: 'text/html,*/*;q=0.8' } })
  assert.equal(answer.status, 200)
  const links = Array.from((await answer.text()).matchAll(/href="(\/[^"]*)"/g), ([, to = '']) => to)
  for (const link of links) assert.ok((await statusAt(url + link)) < 400, link)
  return links
}

const consoleLine = (lines: readonly string[]) =>
  lines.find((line) => line.startsWith('  console '))

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
      const service = await startLocalService({ ...deployment, env })
      assert.equal(consoleLine(await service.announced()), undefined)
      assert.deepEqual(await frontLinks(service.url), ['/billing/api/openapi.json', '/readyz'])
      assert.equal((await fetch(service.url)).status, 404)
      for (const path of ['', '/sign-in', '/sign-in/once?key=x', '/payments']) {
        assert.equal(await statusAt(service.url + consolePath + path), 404, path)
      }
      await service.stop()
    })

    test('BILLING_CONSOLE=on opens it, to whoever has a token, and by no link', async () => {
      const on = {
        ...env,
        BILLING_CONSOLE: 'on',
        BILLING_CONSOLE_HOSTS: 'admin.example',
        BILLING_API_TOKEN: `new-${apiToken},${apiToken}`,
      }
      const service = await startLocalService({ ...deployment, env: on })
      const said = await service.announced()
      assert.equal(consoleLine(said), `  console     ${service.url}${consolePath}`)
      const browser = await signIn(browse(service.url), apiToken)
      assert.equal((await browser.open(`${consolePath}/payments`)).status, 200)
      await service.stop()
      assert.ok(![...said, ...service.stderr].join('\n').includes(apiToken))
    })

    test('on the port for operations it is there alone', async () => {
      const operations = `http://127.0.0.1:${await freePort()}`
      const { port: BILLING_OPERATIONS_PORT } = new URL(operations)
      const on = { ...env, BILLING_CONSOLE: 'on', BILLING_OPERATIONS_PORT }
      const service = await startLocalService({ ...deployment, env: on })
      const line = `  console     ${operations}${consolePath}`
      assert.equal(consoleLine(await service.announced()), line)
      assert.deepEqual(await frontLinks(operations), [consolePath, '/metrics'])
      assert.equal(await statusAt(service.url + signInPath), 404)
      const browser = await signIn(browse(operations), apiToken)
      assert.equal((await browser.open(`${consolePath}/payments`)).status, 200)
      await service.stop()
    })
  })
})
