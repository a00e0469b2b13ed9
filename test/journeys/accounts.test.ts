import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SignedCallback } from '../../src/gateways/gateway.ts'
import { startHutko } from '../providers/hutko.ts'
import { startLiqpay } from '../providers/liqpay.ts'
import { startMonobank } from '../providers/monobank.ts'
import { startPaddle } from '../providers/paddle.ts'
import type { ProviderStandIn } from '../providers/provider-stand-in.ts'
import { startStripe } from '../providers/stripe.ts'
import { startWayforpay } from '../providers/wayforpay.ts'
import { postgres } from '../support/databases.ts'
import { apiToken } from '../support/deployment.ts'
import { runHosted } from '../support/command-host.ts'
import { startSpec, type SpecService } from '../spec/spec-service.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { until } from '../support/until.ts'

// Two accounts of each gateway on one running service, each at a stand-in of its own; and a third
// name that was given the key of the first.

const origin = 'https://pay.example.test'

interface Payment {
  readonly id: string
  readonly gateway: string
  readonly status: string
  readonly checkout_url: string
  readonly events: readonly { readonly type: string }[]
}

interface Call {
  readonly gateway: string
  readonly state: string
  readonly outcome: readonly { readonly type: string; readonly reason?: string }[] | null
}

type Settings = Readonly<Record<string, string>>

/** `STRIPE_EU_SIGNING_SECRET`: spelled out here, as the documentation says. */
function variablesOf(name: string, settings: Settings): Settings {
  const prefix = name.replaceAll('-', '_')
  return Object.fromEntries(
    Object.entries(settings).map(([field, value]) => [`${prefix}_${field}`.toUpperCase(), value]),
  )
}

/** Both stand-ins have keys of their own. */
const pairs = {
  stripe: () => [startStripe(), startStripe({ account: 'eu' })],
  paddle: () => [startPaddle(), startPaddle('of_eu_01')],
  liqpay: () => [startLiqpay(), startLiqpay(2)],
  monobank: () => [startMonobank(), startMonobank({ account: 'eu' })],
} as const satisfies Record<string, () => readonly Promise<ProviderStandIn>[]>

/** Of these only the account is at a stand-in. */
const alone = { wayforpay: startWayforpay, hutko: startHutko } as const

/** Where whoever asks finds nobody. */
const nowhere = 'http://127.0.0.1:9'

describe('two accounts of one gateway on one service (29)', () => {
  const providers = new Map<string, ProviderStandIn>()
  let service: SpecService
  before(async () => {
    const env: Record<string, string> = {}
    const set = (name: string, settings: Settings) =>
      Object.assign(env, variablesOf(name, settings))
    for (const [driver, start] of Object.entries(pairs)) {
      const [plain, eu] = await Promise.all(start())
      assert.ok(plain && eu)
      providers.set(driver, plain).set(`${driver}-eu`, eu)
      set(driver, plain.config)
      set(`${driver}-eu`, eu.config)
    }
    for (const [driver, start] of Object.entries(alone)) {
      const eu = await start()
      providers.set(`${driver}-eu`, eu)
      set(driver, { ...testCredentials(eu.gateway, 'stranger'), api_base: nowhere })
      set(`${driver}-eu`, eu.config)
    }
    const drivers = [...Object.keys(pairs), ...Object.keys(alone)]
    const twins = Object.keys(pairs).map((driver) => [
      `${driver}-twin`,
      { driver, ...providers.get(driver)?.config },
    ])
    service = await startSpec(postgres, {
      config: `export default { gateways: ${JSON.stringify(Object.fromEntries(twins))} }`,
      env: {
        ...env,
        STRIPE_SIGNING_SECRET: providers.get('stripe')?.config['signing_secret'] ?? '',
        BILLING_GATEWAYS: drivers.map((driver) => `${driver}-eu:${driver}`).join(','),
        APP_URL: origin,
      },
    })
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await Promise.all([...providers.values()].map((provider) => provider.close()))
  })

  const api = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' }
    const init = { headers, ...(body && { body: JSON.stringify(body) }) }
    const answer = await service.send(method, `/billing/api${path}`, init)
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const of = (name: string) => {
    const provider = providers.get(name)
    assert.ok(provider)
    return provider
  }
  /** The key that a callback is checked with may be asked for whenever one comes. */
  const askedOf = (name: string) =>
    of(name).asked.filter(({ asking }) => asking !== 'look_up').length
  /** Creates it; where the checkout is a form, the payer's browser posts that. */
  const open = async (gateway: string) => {
    const payment = (await api('POST', '/payments', {
      gateway,
      amount: 15_075,
      currency: 'UAH',
      payable: { type: 'order', id: '42' },
      customer: { email: 'payer@example.test' },
    })) as Payment
    if (new URL(payment.checkout_url).pathname === `/billing/pay/${payment.id}`) {
      const page = await fetch(`${service.running.url}/billing/pay/${payment.id}`)
      const html = await page.text()
      const [, action = ''] = /<form method="post" action="([^"]+)"/.exec(html) ?? []
      const fields = Array.from(html.matchAll(/name="(\w+)"\s+value="([^"]+)"/g), (match) => [
        match[1] ?? '',
        match[2] ?? '',
      ])
      const body = new URLSearchParams(fields)
      const answer = await fetch(action, { method: 'POST', body, redirect: 'manual' })
      assert.ok(answer.status < 400, `the form was answered ${answer.status}: ${html}`)
    }
    return payment
  }
  const show = async (id: string) => (await api('GET', `/payments/${id}`)) as Payment
  const post = async (gateway: string, { headers, body }: SignedCallback) =>
    (await service.post(gateway, body, headers)).status
  const calls = async (gateway: string) =>
    ((await api('GET', `/webhook-calls?gateway=${gateway}&limit=100`)) as { data: Call[] }).data
  const idle = async () => {
    await until(
      async () => {
        const states = await Promise.all(
          ['pending', 'processing'].map((state) => api('GET', `/webhook-calls?state=${state}`)),
        )
        return states.every((page) => (page as { data: Call[] }).data.length === 0)
      },
      { what: 'every call is processed' },
    )
  }
  const becomes = (id: string, status: string) =>
    until(async () => (await show(id)).status === status, { what: `it is ${status}` })

  for (const driver of Object.keys(pairs)) {
    for (const [own, other] of [
      [driver, `${driver}-eu`],
      [`${driver}-eu`, driver],
    ] as const) {
      test(`${own} is paid and refunded at its own provider with its own key; ${other} knows nothing of it`, async () => {
        const askedBefore = askedOf(other)
        const payment = await open(own)
        const { id } = payment
        assert.equal(payment.gateway, own)
        assert.equal(of(own).checkouts(id), 1)
        of(own).pay(id)
        const callback = of(own).paymentCallback(id)

        assert.equal(await post(other, callback), 403, 'it is signed with another key')
        assert.equal((await show(id)).status, 'pending')
        assert.equal(await post(own, callback), 200)
        await becomes(id, 'paid')
        assert.deepEqual(
          (await show(id)).events
            .map(({ type }) => type)
            .filter((type) => /^Payment[SFC]/.test(type)),
          ['PaymentSucceeded'],
        )

        await api('POST', `/payments/${id}/poll`)
        await api('POST', `/payments/${id}/refunds`, { amount: 5_025 })
        assert.deepEqual(
          of(own)
            .refunds(id)
            .map(({ amount }) => amount),
          [5_025n],
        )
        assert.ok(of(own).asked.some(({ asking }) => asking === 'refund'))
        // Each stand-in is strict: what is not signed with its key is a fault of the test.
        assert.equal(askedOf(other), askedBefore)
      })

      test(`a checkout of ${own} leads callbacks, or its payer, to the pages of ${own}`, async () => {
        const payment = await open(own)
        const { request } = of(own).asked.findLast(({ asking }) => asking === 'checkout') ?? {}
        const sent = decodeURIComponent(request?.body ?? '')
        const data = new URLSearchParams(request?.body).get('data')
        const text = data === null ? sent : Buffer.from(data, 'base64').toString()
        const { webhook_requires_dashboard_setup: isRegistered, browserPages } = of(own).gateway
        if (!isRegistered) assert.ok(text.includes(`${origin}/billing/webhooks/${own}"`), text)
        if (browserPages === undefined) return
        const page = `${origin}/billing/${own}/checkout`
        assert.ok(payment.checkout_url.startsWith(page), payment.checkout_url)
        const { pathname, search } = new URL(payment.checkout_url)
        const html = await (await fetch(service.running.url + pathname + search)).text()
        assert.ok(html.includes(of(own).config['client_token'] ?? 'none'), html)
        assert.ok(!html.includes(of(other).config['client_token'] ?? ''), html)
      })
    }

    test(`a second name with the key of ${driver} gets its callbacks, and ignores them`, async () => {
      const twin = `${driver}-twin`
      const { id } = await open(driver)
      of(driver).pay(id)
      const callback = of(driver).paymentCallback(id)
      const before = (await calls(twin)).length
      assert.equal(await post(twin, callback), 200)
      await idle()
      const ignored = (await calls(twin)).slice(0, (await calls(twin)).length - before)
      const [call, ...others] = ignored
      assert.deepEqual([call?.state, others], ['ignored', []])
      const ofPayment = call?.outcome?.filter(({ type }) => type === 'payment')
      assert.deepEqual(
        ofPayment?.map(({ reason }) => reason),
        ['gateway_mismatch'],
      )
      assert.equal((await show(id)).status, 'pending')
      assert.equal(await post(driver, callback), 200)
      await becomes(id, 'paid')
    })
  }

  for (const driver of Object.keys(alone)) {
    const name = `${driver}-eu`
    test(`${name} is paid and refunded with its own key, and ${driver} has another`, async () => {
      const { id } = await open(name)
      of(name).pay(id)
      const callback = of(name).paymentCallback(id)
      assert.equal(await post(driver, callback), 403)
      assert.equal(await post(name, callback), 200)
      await becomes(id, 'paid')
      await api('POST', `/payments/${id}/refunds`)
      assert.deepEqual(
        of(name)
          .refunds(id)
          .map(({ amount }) => amount),
        [15_075n],
      )
      // What is created for the other one goes to its own provider, where nobody is.
      const asked = askedOf(name)
      await assert.rejects(open(driver), /504 .*did not answer/)
      assert.equal(askedOf(name), asked)
    })
  }

  test('a name that nobody has stays 404, however many accounts there are', async () => {
    for (const name of [
      'stripe-us',
      'stripe-eu2',
      'stripe-',
      'eu',
      'stripe_eu',
      'STRIPE-EU',
      'stripe-eu%20',
    ]) {
      assert.equal((await service.post(name, '{}')).status, 404, name)
    }
    // It is there, and refuses what is not signed.
    assert.equal((await service.post('stripe-eu', '{}')).status, 403)
  })

  test('the lists are narrowed by account, and the gateways say of what each one is an account', async () => {
    const list = async (gateway: string) =>
      ((await api('GET', `/payments?gateway=${gateway}&limit=100`)) as { data: Payment[] }).data
    for (const name of ['stripe', 'stripe-eu', 'liqpay-eu']) {
      const gateways = new Set((await list(name)).map(({ gateway }) => gateway))
      assert.deepEqual([...gateways], [name])
    }
    const gateways = (await api('GET', '/gateways')) as Record<string, Record<string, unknown>>
    const { driver, webhook_url: url, aliases, configured } = gateways['stripe-eu'] ?? {}
    assert.deepEqual(
      [driver, url, aliases, configured],
      ['stripe', `${origin}/billing/webhooks/stripe-eu`, [], true],
    )
    assert.equal(gateways['stripe']?.['driver'], 'stripe')
  })

  test('send, gateways and doctor know accounts', async () => {
    const run = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await runHosted(args, service)
      return { code, text: [...stdout, ...stderr].join('\n') }
    }
    const { id } = await open('stripe-eu')
    const sent = await run('send', 'stripe-eu', '--payment', id, '--url', service.running.url)
    assert.equal(sent.code, 0, sent.text)
    assert.match(sent.text, new RegExp(`POST ${service.running.url}/billing/webhooks/stripe-eu`))
    assert.equal((await show(id)).status, 'paid')
    const shown = await run('gateways')
    assert.match(shown.text, /^stripe-eu {2}configured\n {2}account of {2}stripe\n/m)
    const found = await run('doctor')
    for (const [driver, field] of [
      ['stripe', 'signing_secret'],
      ['paddle', 'api_key'],
      ['liqpay', 'private_key'],
      ['monobank', 'token'],
    ]) {
      const pattern = new RegExp(`${driver} and ${driver}-twin have the same ${field}`)
      assert.match(found.text.replaceAll(/\s+/g, ' '), pattern)
    }
    assert.doesNotMatch(found.text, /-eu have the same|-eu and/)
  })
})
