import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCore } from '../../src/billing/create-core.ts'
import { builtin } from '../../src/gateways/builtin.ts'

test('gateways() answers to names and aliases, and lists each gateway once', () => {
  const core = createCore({ url: 'https://pay.example.com' })
  const gateways = core.gateways()
  assert.deepEqual(
    Object.keys(gateways),
    builtin.map((gateway) => gateway.name),
  )
  for (const { name, aliases } of builtin) {
    for (const alias of aliases) {
      assert.equal(gateways[alias], gateways[name])
      assert.equal(core.gatewayName(alias), name)
    }
  }
  assert.equal(gateways['stripe']?.webhook_requires_dashboard_setup, true)
  assert.equal(gateways['fake']?.webhook_requires_dashboard_setup, false)
})

for (const [what, options, url] of [
  ['by default', {}, 'http://localhost:3000/billing/webhooks/stripe'],
  [
    'follow the public origin',
    { url: 'https://pay.example.com' },
    'https://pay.example.com/billing/webhooks/stripe',
  ],
  [
    'follow the configured path, wherever its {gateway} stands',
    { url: 'https://pay.example.com', webhook: { path: 'hooks/{gateway}/in' } },
    'https://pay.example.com/hooks/stripe/in',
  ],
] as const) {
  test(`callback URLs ${what}; the route name stays billing.webhook`, () => {
    const core = createCore(options)
    assert.equal(core.url('billing.webhook', { gateway: 'alpha' }), url)
    assert.equal(core.gateways()['stripe']?.webhook_url, url)
  })
}

for (const [what, options, code] of [
  ['a path without {gateway}', { webhook: { path: '/hooks' } }, 'webhook_path_without_gateway'],
  [
    'a path with {gateway} as half a segment',
    { webhook: { path: '/hooks/x-{gateway}' } },
    'webhook_path_without_gateway',
  ],
  ['a public URL with a path', { url: 'https://example.com/shop' }, 'setting_invalid'],
  [
    'a prune window of 4 days, as long as WayForPay retries',
    { webhook: { pruneAfterDays: 4 } },
    'retention_too_short',
  ],
  [
    'a prune window that is no number',
    { webhook: { pruneAfterDays: Number.NaN } },
    'setting_invalid',
  ],
  [
    'an unknown queue connection',
    { billing: { queue: { connection: 'sqs' } } },
    'queue_connection_unknown',
  ],
  ['more time for listeners than a server waits', { listenerBudgetMs: 30_000 }, 'setting_invalid'],
  ['no time for listeners', { listenerBudgetMs: 0 }, 'setting_invalid'],
  ['a database URL that is none', { database: { url: 'mysql://x' } }, 'setting_invalid'],
  ['the embedded database in production', { production: true }, 'embedded_in_production'],
  ['credentials of an unknown gateway', { gateways: { paypal: {} } }, 'gateway_unknown'],
] as const) {
  test(`settings: ${what} is refused with ${code}`, () => {
    assert.throws(() => createCore(options), { code })
  })
}
