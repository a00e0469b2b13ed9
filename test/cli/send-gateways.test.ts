import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { until } from '../support/billing.ts'
import { runHosted } from '../support/command-host.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startService, type RunningService } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const credentials: Readonly<Record<string, string>> = Object.fromEntries(
  builtin.flatMap((gateway) =>
    Object.entries(testCredentials(gateway)).map(([name, value]) => [
      gateway.credentials[name]?.env[0],
      value,
    ]),
  ),
)

const folder = temporaryFolder()
const cwd = folder.path
let service: RunningService
before(async () => {
  fillDataFolder(join(cwd, '.quittance'))
  service = await startService({ cwd, env: credentials })
})
after(async () => {
  await service.stop()
  folder.remove()
})

async function json<T>(...args: readonly string[]): Promise<T> {
  const env = { ...credentials, PORT: new URL(service.url).port }
  const { code, stdout, stderr } = await runHosted([...args, '--json'], { cwd, env })
  assert.deepEqual([code, stderr], [0, []], args.join(' '))
  return JSON.parse(stdout.join('\n')) as T
}

for (const { name, signer } of builtin) {
  test(`send ${name}: lists its callbacks, and the first of them settles a payment`, async () => {
    const scenarios = Object.keys(signer?.scenarios ?? {})
    assert.deepEqual(Object.keys(await json('send', name, '--list')), scenarios)
    const reference = name === 'monobank' ? ['--checkout-reference', 'p2_1'] : []
    const money = ['--amount', '4999', '--currency', 'UAH', '--payable', 'order:1']
    const create = ['payments', 'create', '--gateway', name, '--no-checkout', ...money]
    const { id } = await json<{ id: string }>(...create, ...reference)
    const sent = await json('send', name, '--payment', id)
    assert.partialDeepStrictEqual(sent, { status: 200, payment_id: id })
    const isPaid = async () =>
      (await json<{ status: string }>('payments', 'show', id)).status === 'paid'
    await until(isPaid, { what: 'the payment is paid', limitMs: 30_000 })
  })
}

test('send monobank without a test key says why it cannot, and how it can', async () => {
  const { MONOBANK_SIGNING_KEY: _, ...others } = credentials
  const env = { ...others, PORT: new URL(service.url).port }
  const create = ['--gateway', 'monobank', '--amount', '1', '--currency', 'UAH', '--payable', 'o:1']
  await runHosted(['payments', 'create', '--no-checkout', ...create], { cwd, env })
  const { code, stderr } = await runHosted(['send', 'monobank'], { cwd, env })
  assert.equal(code, 1)
  assert.match(stderr.join('\n'), /only the bank has its private key — .*MONOBANK_SIGNING_KEY/)
})

test('gateways tells of each whether it is configured, its URL, and what to do with it', async () => {
  const shown = await json<Readonly<Record<string, Readonly<Record<string, unknown>>>>>('gateways')
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
