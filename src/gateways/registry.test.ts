import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days } from '../kernel/duration.ts'
import { builtin } from './builtin.ts'
import { readCredentials } from './credentials.ts'
import { fake } from './fake/index.ts'
import { plainAcknowledgment, type Gateway } from './gateway.ts'
import { createRegistry } from './registry.ts'
import { stripe } from './stripe/index.ts'

const settingInvalid = (message: RegExp) => ({ code: 'setting_invalid', message })

test('a gateway is found by its name and by each alias', () => {
  const registry = createRegistry(builtin, {})
  assert.equal(registry.find('stripe')?.gateway, stripe)
  assert.equal(registry.find('alpha')?.gateway, stripe)
  assert.equal(registry.find('fake')?.gateway, fake)
  assert.deepEqual(
    registry.list().map(({ gateway }) => gateway.name),
    builtin.map(({ name }) => name),
  )
})

test('no other text finds a gateway', () => {
  const registry = createRegistry(builtin, {})
  const names = ['', 'paypal', 'Stripe', 'ALPHA', ' stripe', 'stripe ', 'fake\0', 'stripe/alpha']
  const members = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  for (const name of [...names, ...members]) assert.equal(registry.find(name), undefined, name)
})

test('credentials come by canonical name, and without any a gateway is not configured', () => {
  const credentials = readCredentials(stripe, { STRIPE_SIGNING_SECRET: 's' }, { production: true })
  const registry = createRegistry(builtin, { stripe: credentials })
  assert.equal(registry.find('alpha')?.credentials, credentials)
  assert.equal(registry.find('fake')?.credentials.configured, false)
  assert.equal(createRegistry([stripe], {}).find('stripe')?.credentials.configured, false)
})

test('the longest retry window is that of the most patient provider', () => {
  assert.equal(createRegistry(builtin, {}).longestRetryWindow(), days(4))
  const patient: Gateway = { ...fake, name: 'patient', retryWindow: days(5) }
  assert.equal(createRegistry([...builtin, patient], {}).longestRetryWindow(), days(5))
  assert.equal(createRegistry([], {}).longestRetryWindow(), 0)
})

test('a name or alias that is taken is refused with both gateways named', () => {
  const cases: readonly Gateway[] = [
    stripe,
    { ...fake, name: 'alpha' },
    { ...fake, name: 'other', aliases: ['stripe'] },
    { ...fake, name: 'other', aliases: ['alpha'] },
    { ...fake, name: 'other', aliases: ['twice', 'twice'] },
  ]
  for (const gateway of cases) {
    assert.throws(
      () => createRegistry([stripe, gateway], {}),
      settingInvalid(/the name [a-z]+ belongs to gateway/),
      gateway.name,
    )
  }
})

test('an incomplete descriptor is refused with what is missing', () => {
  const cases: readonly (readonly [Partial<Record<keyof Gateway, unknown>>, RegExp])[] = [
    [{ name: 'Stripe' }, /must be lower-case words/],
    [{ name: '' }, /must be lower-case words/],
    [{ name: undefined }, /must be lower-case words/],
    [{ aliases: ['a/b'] }, /must be lower-case words/],
    [{ driver: 'Stripe' }, /name "Stripe" must be lower-case words/],
    [{ driver: 7 }, /name 7 must be lower-case words/],
    [{ title: '' }, /title is missing/],
    [{ verify: undefined }, /verify\(\) is missing/],
    [{ interpret: undefined }, /interpret\(\) is missing/],
    [{ credentials: {} }, /needs a required credential/],
    [{ verification: 'maybe' }, /verification must be/],
    [{ credentialHeaders: ['Stripe-Signature'] }, /must be in lower case/],
    [{ credentialHeaders: undefined }, /credentialHeaders is missing/],
    [{ maxBodyBytes: 0 }, /maxBodyBytes must be a number of bytes/],
    [{ maxBodyBytes: 1.5 }, /maxBodyBytes must be/],
    [{ readFields: 'id' }, /readFields must be a list of names/],
    [{ secretFields: undefined }, /secretFields is missing/],
    [
      { answersUnread: plainAcknowledgment, secretFields: ['token'] },
      /answersUnread stores bodies unread: there can be no secretFields/,
    ],
    [{ refusalReasons: 'wrong_signature' }, /refusalReasons must be a list of words/],
    [
      { refusalReasons: ['Wrong signature'] },
      /refusal reason "Wrong signature" must be lower-case/,
    ],
    [{ refusalReasons: [7] }, /refusal reason 7 must be lower-case words/],
    [{ dashboardUrl: 'https://example.com' }, /dashboardUrl must be a function/],
    [{ retryWindow: Number.NaN }, /retryWindow/],
    [{ retryWindow: -1 }, /retryWindow/],
    [{ apiCredential: 'key' }, /apiCredential key is none of its credentials/],
    [{ refund: undefined }, /partialRefund without refund/],
    [{ poll: undefined, pollTogether: { most: 30, ask: () => {} } }, /pollTogether without poll/],
    [{ pollTogether: { most: 1, ask: () => {} } }, /pollTogether needs ask\(\) and most/],
    [{ pollTogether: { most: 30 } }, /pollTogether needs ask\(\) and most/],
    [{ declines: { expired_card: 'hard' } }, /declines must be a Map/],
    [{ declines: new Map([['a card', 'hard']]) }, /declines: a card is no code/],
    [{ declines: new Map([['expired', 'gone']]) }, /expired must be soft, hard or authentication/],
    [{ chargesPerMinute: 0 }, /chargesPerMinute must be a number above 0/],
    [{ chargesPerMinute: '120' }, /chargesPerMinute must be/],
    [{ webhook_requires_dashboard_setup: undefined }, /webhook_requires_dashboard_setup/],
    [{ aliases: undefined }, /aliases must be a list of names/],
    [{ credentials: undefined }, /credentials is missing/],
    [{ credentials: { driver: { env: ['A'] } } }, /credential driver needs another name/],
    [{ credentials: { key: 'MY_KEY' } }, /credential key names no environment variable/],
    [{ credentials: { key: { env: 'MY_KEY' } } }, /credential key names no environment variable/],
    [{ checkout: () => {} }, /checkout must be of kind `api`, `form` or `page`/],
    [{ signer: { scenarios: stripe.signer?.scenarios } }, /signer needs sign\(\) and scenarios/],
    [{ signer: { sign: () => {} } }, /signer needs sign\(\) and scenarios/],
    [
      { signer: { ...stripe.signer, scenarios: { paid: 'a payment is paid' } } },
      /scenario paid must be \{ shows, means \}/,
    ],
    [
      { signer: { ...stripe.signer, scenarios: { paid: { shows: 'a payment is paid' } } } },
      /scenario paid must be \{ shows, means \}/,
    ],
  ]
  for (const [change, message] of cases) {
    const broken = { ...stripe, ...change } as Gateway
    assert.throws(() => createRegistry([broken], {}), settingInvalid(message), String(message))
  }
})

test('a descriptor with `capabilities`, as they once were, is refused with what replaces them', () => {
  const old = { ...stripe, partialRefund: undefined, capabilities: { partialRefund: true } }
  assert.throws(
    () => createRegistry([old as unknown as Gateway], {}),
    settingInvalid(/capabilities follow from the operations.*partialRefund: true/),
  )
})
