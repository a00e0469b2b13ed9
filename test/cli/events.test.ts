import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { runHosted } from '../support/command-host.ts'
import { embedded, onPostgres } from '../support/databases.ts'
import { deploy, type Deployment } from '../support/deployment.ts'
import { startLocalService } from '../support/local-service.ts'

onPostgres((engine) => {
  let deployment: Deployment
  before(async () => {
    deployment = await deploy(engine)
  })
  after(() => deployment.remove())

  const events = (...args: readonly string[]) => runHosted(['events', ...args], deployment)

  test('events tail refuses what it cannot follow', async () => {
    const refused = async (...args: readonly string[]) => {
      const { code, stderr } = await events('tail', ...args)
      return [code, stderr.join('\n')] as const
    }
    const [unknown, why] = await refused('--after', newUuid())
    assert.equal(unknown, 1)
    assert.match(why, /there is no event .* — Was the database restored\? .*since/)
    const [both, clash] = await refused('--after', 'start', '--since', '1h')
    assert.equal(both, 1)
    assert.match(clash, /--since cannot be given together with after/)
    const [type, choice] = await refused('--type', 'PaymentSuceeded')
    assert.equal(type, 2)
    assert.match(choice, /no event "PaymentSuceeded"; did you mean PaymentSucceeded\?/)
    const [gateway] = await refused('--gateway', 'nobody')
    assert.equal(gateway, 1)
  })

  test('a service in production with the token for readers alone says so, and is read', async () => {
    const { BILLING_API_TOKEN: _none, ...env } = deployment.env
    const token = 'token-that-only-reads'
    const service = await startLocalService({
      cwd: deployment.cwd,
      env: { ...env, NODE_ENV: 'production', BILLING_READ_TOKEN: token },
    })
    try {
      const said = (await service.announced()).find((line) => line.startsWith('  API '))
      const path = `${service.url}/billing/api`
      assert.equal(
        said,
        `  API         ${path}, for reading alone: the token in BILLING_READ_TOKEN`,
      )
      const ask = async (method: string) => {
        const headers = { authorization: `Bearer ${token}` }
        return (await fetch(`${path}/payments`, { method, headers })).status
      }
      assert.deepEqual([await ask('GET'), await ask('POST')], [200, 403])
    } finally {
      await service.stop()
    }
  })
})

test('events tail does not open an embedded database that nobody serves', async () => {
  const deployment = await deploy(embedded)
  const { code, stderr } = await runHosted(['events', 'tail'], deployment)
  await deployment.remove()
  assert.equal(code, 1)
  assert.match(stderr.join('\n'), /no process runs the embedded database.* — Start it/)
})
