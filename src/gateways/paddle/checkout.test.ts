import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isQuittanceError } from '../../kernel/errors.ts'
import { openCheckout } from './checkout.ts'
import { moneyFault } from './money-fault.ts'
import { paymentId, transaction, transactionId } from '../../../test/gateways/paddle/events.ts'
import {
  answering,
  bodyOf,
  checkoutOf,
  contextOf,
  requestsTo,
  startProviderFor,
} from '../../../test/gateways/paddle/operations.ts'
import { thrownBy, failureOf } from '../../../test/providers/kit.ts'
import { paddle } from './index.ts'

const priceName = `Payment ${paymentId}`
const name = `Payment ${paymentId.slice(-8)}`

test('a checkout is one transaction of one item with its tax included, and never ends', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const request = checkoutOf({ origin: 'http://localhost:3000' })
  const opened = await openCheckout(request, context)
  const [held] = provider.account.transactions
  assert.deepEqual(opened, {
    url: `https://shop.example/pay?_ptxn=${held?.id}`,
    checkoutReference: held?.id,
    expiresAt: null,
  })
  assert.deepEqual(requestsTo(provider), ['POST /transactions'])
  assert.deepEqual(bodyOf(provider.asked[0]?.request), {
    items: [
      {
        quantity: 1,
        price: {
          description: priceName,
          unit_price: { amount: '4999', currency_code: 'USD' },
          tax_mode: 'internal',
          quantity: { minimum: 1, maximum: 1 },
          product: { name, tax_category: 'standard' },
        },
      },
    ],
    currency_code: 'USD',
    collection_mode: 'automatic',
    custom_data: { payment_id: paymentId },
  })
  assert.equal(provider.asked[0]?.request.headers.authorization, `Bearer ${provider.apiKey}`)
})

test('the official package makes the same request, and reads the reply the same way', async (t) => {
  const { provider, context, official } = await startProviderFor(t)
  const description = 'Coffee, 1 kg'
  const request = checkoutOf({
    payment: { description },
    origin: 'https://pay.example',
  })
  await openCheckout(request, context)
  const created = await official.transactions.create({
    items: [
      {
        quantity: 1,
        price: {
          description: priceName,
          unitPrice: { amount: '4999', currencyCode: 'USD' },
          taxMode: 'internal',
          quantity: { minimum: 1, maximum: 1 },
          product: { name: description, taxCategory: 'standard' },
        },
      },
    ],
    currencyCode: 'USD',
    collectionMode: 'automatic',
    customData: { payment_id: paymentId },
    checkout: { url: 'https://pay.example/billing/paddle/checkout' },
  })
  const [ours, theirs] = provider.asked.map((asked) => bodyOf(asked.request))
  assert.deepEqual(ours, theirs)
  assert.equal(created.details?.totals?.total, '4999')
  assert.match(created.checkout?.url ?? '', /^https:\/\/pay\.example\/billing.*\?_ptxn=txn_/)
})

const now = new Date('2026-11-20T12:00:00Z')
const inDays = (count: number, more = 0) => new Date(now.getTime() + count * 86_400_000 + more)

test('a checkout that begins a subscription has a price of one item that is charged again', async (t) => {
  const { provider } = await startProviderFor(t)
  const context = contextOf(provider.config, { now })
  const terms = { every: { unit: 'month', count: 3 }, timeZone: 'UTC' } as const
  await openCheckout(checkoutOf({ recurring: { ...terms, trialEndsAt: null } }), context)
  await openCheckout(checkoutOf({ recurring: { ...terms, trialEndsAt: inDays(14) } }), context)
  const [price, withTrial] = provider.asked.map(({ request }) => {
    const body = bodyOf(request) as { readonly items: readonly { readonly price: object }[] }
    return body.items[0]?.price
  })
  const cycle = { billing_cycle: { interval: 'month', frequency: 3 } }
  assert.deepEqual(price, {
    description: priceName,
    unit_price: { amount: '4999', currency_code: 'USD' },
    tax_mode: 'internal',
    quantity: { minimum: 1, maximum: 1 },
    ...cycle,
    product: { name, tax_category: 'standard' },
  })
  assert.deepEqual(withTrial, { ...price, trial_period: { interval: 'day', frequency: 14 } })
})

test('periods of every length that we know are periods of Paddle, in its own words', async (t) => {
  const { provider } = await startProviderFor(t)
  for (const unit of ['day', 'week', 'month', 'year'] as const) {
    for (const count of [1, 366]) {
      const recurring = { every: { unit, count }, trialEndsAt: null, timeZone: 'UTC' }
      await openCheckout(checkoutOf({ recurring }), contextOf(provider.config, { now }))
      const held = provider.account.transactions.at(-1)
      assert.deepEqual(held?.cycle, { interval: unit, frequency: count })
    }
  }
})

test('a trial is whole days, and at least as many as were promised', async (t) => {
  const { provider } = await startProviderFor(t)
  const daysOf = async (trialEndsAt: Date, begun = now, timeZone = 'UTC') => {
    const every = { unit: 'month', count: 1 } as const
    const recurring = { every, trialEndsAt, timeZone }
    await openCheckout(checkoutOf({ recurring }), contextOf(provider.config, { now: begun }))
    const { trial } = provider.account.transactions.at(-1) ?? {}
    return trial?.interval === 'week' ? `${trial.frequency} weeks` : trial?.frequency
  }
  const hour = 3_600_000
  assert.equal(await daysOf(inDays(30)), 30)
  assert.equal(await daysOf(inDays(30, -1)), 30)
  assert.equal(await daysOf(inDays(29, hour)), 30)
  assert.equal(await daysOf(inDays(0, hour)), 1)
  // A clock that is a little ahead gives no day away.
  assert.equal(await daysOf(inDays(30, 60_000)), 30)
  assert.equal(await daysOf(inDays(999)), 999)
  assert.equal(await daysOf(inDays(1000)), '143 weeks')
  assert.equal(await daysOf(inDays(0)), undefined)
  assert.equal(await daysOf(inDays(-3)), undefined)
  const [begun, end] = [new Date('2026-10-01T09:00:00Z'), new Date('2026-10-31T10:00:00Z')]
  assert.equal(await daysOf(end, begun, 'Europe/Kyiv'), 30)
})

test('the official package makes the same request for a subscription', async (t) => {
  const { provider, official } = await startProviderFor(t)
  const every = { unit: 'year', count: 1 } as const
  const request = checkoutOf({
    recurring: { every, trialEndsAt: inDays(7), timeZone: 'UTC' },
    origin: 'http://localhost',
  })
  await openCheckout(request, contextOf(provider.config, { now }))
  await official.transactions.create({
    items: [
      {
        quantity: 1,
        price: {
          description: priceName,
          unitPrice: { amount: '4999', currencyCode: 'USD' },
          taxMode: 'internal',
          quantity: { minimum: 1, maximum: 1 },
          billingCycle: { interval: 'year', frequency: 1 },
          trialPeriod: { interval: 'day', frequency: 7 },
          product: { name, taxCategory: 'standard' },
        },
      },
    ],
    currencyCode: 'USD',
    collectionMode: 'automatic',
    customData: { payment_id: paymentId },
  })
  const [ours, theirs] = provider.asked.map((asked) => bodyOf(asked.request))
  assert.deepEqual(ours, theirs)
})

test('the page is ours, of the account, where it has https, or the one that is set', async (t) => {
  const { provider } = await startProviderFor(t)
  const page = async (origin: string, checkout_url?: string, gateway = 'paddle') => {
    const config = { ...provider.config, ...(checkout_url !== undefined && { checkout_url }) }
    const request = checkoutOf({ origin, payment: { gateway } })
    const { url } = await openCheckout(request, contextOf(config))
    return url.replace(/\?_ptxn=.*/, '')
  }
  const ours = 'https://pay.example/billing/paddle/checkout'
  assert.equal(await page('https://pay.example'), ours)
  const ofAccount = ours.replace('paddle', 'paddle-eu')
  assert.equal(await page('https://pay.example', undefined, 'paddle-eu'), ofAccount)
  assert.equal(await page('http://pay.example'), 'https://shop.example/pay')
  assert.equal(await page('http://pay.example', 'http://localhost/p'), 'http://localhost/p')
  assert.equal(
    await page('https://pay.example', 'https://else.example/p'),
    'https://else.example/p',
  )
})

test('what the payer reads is the description, no longer than Paddle takes it', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const cases = [
    ['\u{1f600}'.repeat(150), '\u{1f600}'.repeat(100)],
    [`x${'\u{1f600}'.repeat(150)}`, `x${'\u{1f600}'.repeat(99)}\ufffd`],
    ['  Кава  ', 'Кава'],
    ['   ', name],
  ] as const
  for (const [description] of cases) {
    await openCheckout(checkoutOf({ payment: { description } }), context)
  }
  const names = provider.asked.map(({ request }) => {
    const body = bodyOf(request) as { items: { price: { product: { name: string } } }[] }
    return body.items[0]?.price.product.name
  })
  assert.deepEqual(
    names,
    cases.map(([, shown]) => shown),
  )
})

test("a refusal carries Paddle's code and what to do, and has opened nothing", async (t) => {
  const { provider, context } = await startProviderFor(t)
  provider.misbehave('checkout', 'refuse')
  const unset = await thrownBy(openCheckout(checkoutOf(), context))
  assert.equal(unset.code, 'provider_refused')
  assert.equal(unset.providerCode, 'transaction_default_checkout_url_not_set')
  assert.match(unset.fix, /default payment link/)
  const strange = checkoutOf({ origin: 'https://unapproved.example' })
  const unapproved = await thrownBy(openCheckout(strange, context))
  assert.equal(unapproved.providerCode, 'transaction_checkout_url_domain_is_not_approved')
  assert.match(unapproved.fix, /domain/)
  assert.equal(provider.checkouts(paymentId), 0)
})

test('a reply without a page or an id to keep is told as such', async (t) => {
  const checkout = { url: `https://shop.example/?_ptxn=${transactionId}` }
  const good = transaction({ status: 'draft', checkout })
  const bad = [
    { ...good, checkout: { url: null } },
    { ...good, checkout: null },
    { ...good, checkout: { url: 'javascript:alert(1)' } },
    { ...good, id: 'txn_../../x' },
    { ...good, id: 'sub_01m2z7q4w9e6r8t5y3u1i0o7pa' },
    { ...good, custom_data: null },
  ]
  const replies: object[] = [good, ...bad]
  const { context } = await answering(t, () => ({ status: 201, body: { data: replies.shift() } }))
  const { url } = await openCheckout(checkoutOf(), context)
  assert.equal(url, checkout.url)
  for (const reply of bad) {
    const failure = await failureOf(openCheckout(checkoutOf(), context))
    assert.equal(failure.code, 'provider_reply_invalid', JSON.stringify(reply))
  }
})

test('an API that has no transactions has opened none', async (t) => {
  const { context } = await answering(t, () => undefined)
  const failure = await failureOf(openCheckout(checkoutOf(), context))
  assert.deepEqual([failure.code, failure.providerCode], ['provider_refused', 'not_found'])
})

test('of several API keys the first one is used', async (t) => {
  const { provider } = await startProviderFor(t)
  const { api_key: key, ...rest } = provider.config
  const both = contextOf({ ...rest, api_key: `${key},pdl_sdbx_apikey_the_old_one` })
  await openCheckout(checkoutOf(), both)
  assert.equal(provider.asked[0]?.request.headers.authorization, `Bearer ${key}`)
})

test('Paddle takes its own currencies, in units that are sure', () => {
  const faultOf = (currency: string) => moneyFault({ amount: 1n, currency })
  for (const currency of ['USD', 'EUR', 'UAH', 'JPY', 'KRW', 'ZAR']) {
    assert.equal(faultOf(currency), undefined)
  }
  for (const currency of ['KWD', 'GEL', 'usd', '']) {
    assert.equal(faultOf(currency), `Paddle does not take ${currency}`)
  }
  for (const currency of ['CLP', 'COP', 'HUF', 'TWD', 'VND']) {
    assert.match(faultOf(currency) ?? '', /the unit .* is not known/)
  }
})

test("the checkout page's settings are checked: an API key is no client-side token", () => {
  const token = (client_token: string) => contextOf({ client_token }).credentials.settings
  assert.equal(token('live_0123abc').client_token, 'live_0123abc')
  for (const [field, value] of [
    ['client_token', 'pdl_live_apikey_01abc'],
    ['client_token', 'test_"><script>'],
    ['checkout_url', 'javascript:alert(1)'],
  ] as const) {
    assert.throws(
      () => contextOf({ [field]: value }),
      (error) => isQuittanceError(error) && error.code === 'setting_invalid',
    )
  }
  assert.deepEqual(paddle.credentials.client_token?.env, [
    'PADDLE_CLIENT_TOKEN',
    'BETA_CLIENT_TOKEN',
  ])
  assert.deepEqual(paddle.credentials.checkout_url?.env, [
    'PADDLE_CHECKOUT_URL',
    'BETA_CHECKOUT_URL',
  ])
})
