import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/database/connect.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { createOverHttp, deployOpen, type OpenDeployment } from '../support/deployment.ts'
import { startLocalService, type LocalService } from '../support/local-service.ts'

const credentials: Readonly<Record<string, string>> = Object.fromEntries(
  builtin.flatMap((gateway) =>
    Object.entries(testCredentials(gateway)).map(([name, value]) => [
      gateway.credentials[name]?.env[0],
      value,
    ]),
  ),
)

onPostgres((engine) => {
  let deployment: OpenDeployment
  let database: Database
  let service: LocalService
  let options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }
  before(async () => {
    deployment = await deployOpen(engine)
    ;({ database } = deployment)
    const { cwd } = deployment
    service = await startLocalService({ cwd, env: { ...deployment.env, ...credentials } })
    const env = { ...deployment.env, ...credentials, PORT: new URL(service.url).port }
    options = { cwd, env }
  })
  after(async () => {
    await service.stop()
    await deployment.remove()
  })

  /** By the service, for that costs less than a command; that one gets no reference of the provider. */
  async function create(gateway: string): Promise<string> {
    if (gateway === 'monobank') {
      const money = ['--amount', '4999', '--currency', 'UAH', '--payable', 'order:1']
      const args = ['payments', 'create', '--gateway', gateway, '--no-checkout', ...money]
      return (await json<{ id: string }>(...args, '--checkout-reference', 'p2_1')).id
    }
    const id = newUuid()
    assert.ok(await createOverHttp(service.url, id, gateway))
    return id
  }

  async function json<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await runHosted([...args, '--json'], options)
    assert.deepEqual([code, stderr], [0, []], args.join(' '))
    return JSON.parse(stdout.join('\n')) as T
  }

  for (const { name, signer } of builtin) {
    test(`send ${name}: lists its callbacks, and the first of them settles a payment`, async () => {
      const scenarios = Object.keys(signer?.scenarios ?? {})
      assert.deepEqual(Object.keys(await json('send', name, '--list')), scenarios)
      const id = await create(name)
      const sent = await json('send', name, '--payment', id)
      assert.partialDeepStrictEqual(sent, { status: 200, payment_id: id })
      const { rows } = await database.pool.query(
        'select status from billing.payments where id = $1',
        [id],
      )
      assert.deepEqual(rows, [{ status: 'paid' }])
    })
  }

  test('send monobank without a test key says why it cannot, and how it can', async () => {
    const { MONOBANK_SIGNING_KEY: _, ...env } = options.env
    const without = { ...options, env }
    assert.ok(await createOverHttp(service.url, newUuid(), 'monobank'))
    const { code, stderr } = await runHosted(['send', 'monobank'], without)
    assert.equal(code, 1)
    assert.match(stderr.join('\n'), /only the bank has its private key — .*MONOBANK_SIGNING_KEY/)
  })

  test('gateways tells of each whether it is configured, its URL, and what to do with it', async () => {
    const shown =
      await json<Readonly<Record<string, Readonly<Record<string, unknown>>>>>('gateways')
    assert.deepEqual(
      Object.entries(shown).map(([name, view]) => [
        name,
        view['configured'],
        view['webhook_requires_dashboard_setup'] ? 'dashboard' : view['callback_url_field'],
      ]),
      builtin.map((gateway) => [
        gateway.name,
        true,
        gateway.webhook_requires_dashboard_setup ? 'dashboard' : (gateway.callbackUrlField ?? null),
      ]),
    )
    for (const [name, { webhook_url: url }] of Object.entries(shown)) {
      assert.match(String(url), new RegExp(`^http://.*/billing/webhooks/${name}$`))
    }
  })
})
