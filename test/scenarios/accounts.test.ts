import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createCore } from '../../src/billing/create-core.ts'
import { createApp } from '../../src/http/app.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { startMonobank } from '../providers/monobank.ts'
import type { ProviderStandIn } from '../providers/provider-stand-in.ts'
import { idle, openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'

const money = { amount: 15_075, currency: 'UAH', payable: { type: 'order', id: '42' } }
const appOptions = { maxBodyBytes: 1024, webhookMiddleware: [], log: silentLog }

const codeOf = (error: unknown) => (isQuittanceError(error) ? error.code : String(error))

onAnyDatabase((engine) => {
  const names = ['monobank', 'monobank-eu'] as const
  let billing: TestBilling
  let providers: Readonly<Record<(typeof names)[number], ProviderStandIn>>
  before(async () => {
    const [plain, eu] = await Promise.all([startMonobank(), startMonobank({ account: 'eu' })])
    providers = { monobank: plain, 'monobank-eu': eu }
    billing = await openBilling(engine, {
      url: 'https://pay.example.test',
      gateways: {
        monobank: plain.config,
        'monobank-eu': { driver: 'monobank', ...eu.config },
        'fake-2': { driver: 'fake' },
        'fake-off': { driver: 'fake', enabled: 'off' },
      },
      billing: { encryptionKey: randomBytes(32).toString('base64') },
    })
    await billing.core.work()
  })
  after(async () => {
    await billing.close()
    await Promise.all(Object.values(providers).map((one) => one.close()))
  })

  const saved = async (gateway: (typeof names)[number]) => {
    const payment = await billing.core.payments.create({ ...money, gateway, saveCard: true })
    providers[gateway].pay(payment.id)
    const { headers, body } = providers[gateway].paymentCallback(payment.id)
    const target = `/billing/webhooks/${gateway}`
    const answer = await billing.core.receive({ gateway, target, headers, body: Buffer.from(body) })
    assert.equal(answer.status, 200)
    await idle(billing.core)
    const [card] = (await billing.core.payments.get(payment.id))?.paymentMethods ?? []
    assert.ok(card)
    return card
  }

  test('a card is charged under the name that saved it, and under no other', async () => {
    for (const own of names) {
      const other = own === 'monobank' ? 'monobank-eu' : 'monobank'
      const card = await saved(own)
      assert.equal(card.gateway, own)
      const charge = (gateway: string) =>
        billing.core.payments.create({ ...money, gateway, paymentMethodId: card.id })
      await assert.rejects(charge(other), (error) => codeOf(error) === 'payment_method_unusable')
      const { id } = await charge(own)
      assert.equal(providers[own].charges(id), 1)
      assert.equal(providers[other].charges(id), 0)
      await billing.core.paymentMethods.remove(card.id)
      assert.equal(providers[own].asked.at(-1)?.asking, 'remove')
    }
  })

  test('reconciliation asks each provider about the payments of its own account', async () => {
    const opened = await Promise.all(
      names.map((gateway) => billing.core.payments.create({ ...money, gateway })),
    )
    for (const { id, gateway } of opened) providers[gateway as (typeof names)[number]].pay(id)
    await billing.database.pool.query(
      `update billing.payments set next_poll_at = clock_timestamp() where id = any($1::uuid[])`,
      [opened.map(({ id }) => id)],
    )
    const only = await billing.core.reconcile({ gateway: 'monobank-eu' })
    assert.deepEqual([only.polled, only.changed], [1, 1])
    const rest = await billing.core.reconcile()
    assert.deepEqual([rest.polled, rest.changed, rest.failed], [1, 1, 0])
    for (const { id } of opened) assert.equal((await billing.core.payments.get(id))?.status, 'paid')
  })

  test('an account of the fake gateway has its checkout, its callbacks, and its own switch', async () => {
    const { core } = billing
    const app = createApp(core, appOptions)
    const payment = await core.payments.create({ ...money, gateway: 'fake-2' })
    const path = new URL(payment.checkoutUrl ?? '').pathname
    const press = (of: string) =>
      app.request(of, { method: 'POST', body: new URLSearchParams({ result: 'success' }) })
    assert.equal((await app.request(path)).status, 200)
    assert.equal((await press(path)).status, 303)
    await idle(core)
    assert.equal((await core.payments.get(payment.id))?.status, 'paid')
    const [call] = (await core.calls.list({ gateway: 'fake-2' })).data
    assert.equal(call?.state, 'processed')
    // Created while it was on.
    const off: Payment = await core.payments.create({ ...money, gateway: 'fake' })
    await billing.database.pool.query(
      `update billing.payments set gateway = 'fake-off' where id = $1`,
      [off.id],
    )
    const offPath = new URL(off.checkoutUrl ?? '').pathname
    for (const answer of [await app.request(offPath), await press(offPath)]) {
      assert.equal(answer.status, 404)
    }
    // What anybody may send about one settles no payment of another.
    const other = await core.payments.create({ ...money, gateway: 'fake' })
    const body = Buffer.from(JSON.stringify({ payment_id: other.id, result: 'success' }))
    const target = '/billing/webhooks/fake-2'
    assert.equal((await core.receive({ gateway: 'fake-2', target, headers: {}, body })).status, 200)
    await idle(core)
    assert.equal((await core.payments.get(other.id))?.status, 'pending')
  })
})

test('no account takes the name of a page or route of ours', async () => {
  const core = createCore({ url: 'https://pay.example.test' })
  const app = createApp(core, { ...appOptions, authenticate: () => undefined })
  const segments = app.routes.flatMap(({ path }) => /^\/billing\/([a-z-]+)\//.exec(path)?.[1] ?? [])
  const listed = Object.values(core.gateways())
  const known = new Set(listed.flatMap(({ name, aliases }) => [name, ...aliases]))
  const ours = new Set(segments.filter((segment) => !known.has(segment)))
  assert.ok(ours.size >= 6, [...ours].join())
  for (const name of ours) {
    const make = () => createCore({ gateways: { [name]: { driver: 'fake' } } })
    assert.throws(make, { code: 'setting_invalid', message: /is one of Quittance’s own$/ }, name)
  }
})
