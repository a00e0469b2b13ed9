import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtin } from '../gateways/builtin.ts'
import type { Gateway } from '../gateways/gateway.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import type { BillingOptions } from './options.ts'
import { readSettings } from './settings.ts'

const named = (text: string): BillingOptions => ({ environment: { BILLING_GATEWAYS: text } })

const accountsIn = (options: BillingOptions) =>
  readSettings(options)
    .gateways.list()
    .slice(builtin.length)
    .map(({ gateway }) => `${gateway.name}:${gateway.driver}`)

/** Its code, message and fix. */
function refusal(options: object): string {
  try {
    readSettings(options)
    return 'the options were taken'
  } catch (error) {
    assert.ok(isQuittanceError(error), String(error))
    return `${error.code}: ${error.message} — ${error.fix}`
  }
}

const acme: Gateway = {
  ...(builtin.find(({ name }) => name === 'liqpay') as Gateway),
  name: 'acme',
  aliases: ['acme-pay'],
  credentials: {
    secret: { env: ['ACME_SECRET'], secret: true, required: true, description: 'A secret.' },
    url: { env: ['ACME_URL'], secret: false, required: false, description: 'A URL.' },
  },
}

test('accounts are named in the variable, in the configuration, or in both', () => {
  assert.deepEqual(accountsIn({}), [])
  assert.deepEqual(accountsIn(named('')), [])
  assert.deepEqual(accountsIn(named(' stripe-eu : stripe ,, liqpay-books:liqpay,')), [
    'stripe-eu:stripe',
    'liqpay-books:liqpay',
  ])
  const gateways = { 'stripe-eu': { driver: 'stripe', signing_secret: 'whsec_0123456789abcdef' } }
  assert.deepEqual(accountsIn({ gateways }), ['stripe-eu:stripe'])
  assert.deepEqual(accountsIn({ gateways, ...named('mono2:monobank,stripe-eu:stripe') }), [
    'mono2:monobank',
    'stripe-eu:stripe',
  ])
  // The variable says what it is, the configuration only what is set of it.
  const fields = { 'stripe-eu': { signing_secret: 'whsec_0123456789abcdef' } }
  const read = readSettings({ gateways: fields, ...named('stripe-eu:stripe') })
  assert.equal(read.gateways.find('stripe-eu')?.credentials.configured, true)
  assert.equal(read.gateways.find('stripe')?.credentials.configured, false)
})

test('an account of an alias is one of the gateway; a gateway of the app can have accounts, too', () => {
  assert.deepEqual(accountsIn(named('a:alpha,b:md5')), ['a:stripe', 'b:wayforpay'])
  const options = { extraGateways: [acme], ...named('acme-2:acme,acme-3:acme-pay') }
  const list = readSettings(options).gateways.list()
  assert.deepEqual(
    list.slice(-3).map(({ gateway: { name, driver } }) => [name, driver]),
    [
      ['acme', undefined],
      ['acme-2', 'acme'],
      ['acme-3', 'acme'],
    ],
  )
})

test('the variables of an account win over its configuration, and the gateway’s own are not its', () => {
  const { gateways } = readSettings({
    gateways: { 'stripe-eu': { driver: 'stripe', signing_secret: 'from_the_configuration' } },
    environment: {
      STRIPE_EU_SIGNING_SECRET: 'from_the_environment',
      STRIPE_SECRET_KEY: 'sk_live_of_the_other_account',
      ALPHA_SIGNING_SECRET: 'whsec_of_the_other_account',
    },
  })
  const revealed = (name: string, field: string) =>
    gateways.find(name)?.credentials.secrets[field]?.map((one) => one.reveal())
  assert.deepEqual(revealed('stripe-eu', 'signing_secret'), ['from_the_environment'])
  assert.deepEqual(revealed('stripe-eu', 'secret_key'), [])
  assert.deepEqual(revealed('stripe', 'signing_secret'), ['whsec_of_the_other_account'])
})

test('secrets of all accounts are blanked out in texts', () => {
  const { scrub } = readSettings({
    gateways: { 'stripe-eu': { driver: 'stripe', secret_key: 'sk_live_of_eu' } },
    environment: { BILLING_GATEWAYS: 'books:liqpay', BOOKS_PRIVATE_KEY: 'private_of_books' },
  })
  assert.equal(scrub('a sk_live_of_eu b private_of_books'), 'a [secret] b [secret]')
})

test('an account is no more lenient in production than its gateway', () => {
  const database = { url: 'postgres://localhost/billing' }
  const options = { production: true, database, gateways: { test: { driver: 'fake' } } }
  assert.equal(readSettings(options).gateways.find('test')?.credentials.configured, false)
  const secret = { driver: 'wayforpay', secret_key: 'flk3409refn54t54t*FNJRET' }
  assert.match(
    refusal({ ...options, gateways: { shop: secret } }),
    /^setting_invalid: gateways\.shop\.secret_key is a public test value/,
  )
})

for (const [what, options, message] of [
  ['no pair', named('stripe-eu'), /^setting_invalid: BILLING_GATEWAYS must hold pairs .*pair 1 is/],
  ['three parts', named('a:stripe,b:stripe:x'), /such as stripe-eu:stripe; pair 2 is none/],
  ['no gateway', named('stripe-eu:'), /pair 1 is none/],
  ['no name', named(':stripe'), /pair 1 is none/],
  ['capitals', named('Stripe-EU:stripe'), /lower-case letters, digits and dashes/],
  ['an underscore', named('stripe_eu:stripe'), /lower-case letters, digits and dashes/],
  ['a digit in front', named('2stripe:stripe'), /begins with a letter/],
  ['two dashes', named('stripe--eu:stripe'), /pair 1 is none/],
  ['a dash at the end', named('stripe-:stripe'), /pair 1 is none/],
  ['a path', named('a/b:stripe'), /pair 1 is none/],
  ['a name that no row takes', named(`${'a'.repeat(65)}:stripe`), /at most 64 lower-case letters/],
  [
    'a name in the file',
    { gateways: { 'Shop A': { driver: 'stripe' } } },
    /Shop A\.driver: a name/,
  ],
  ['a gateway’s name', named('stripe:stripe'), /stripe is the gateway stripe itself; .*stripe-eu/],
  ['another gateway’s', named('liqpay:stripe'), /liqpay is the gateway liqpay itself/],
  ['an alias', { gateways: { alpha: { driver: 'stripe' } } }, /alpha is the gateway stripe itself/],
  [
    'an app’s gateway',
    { extraGateways: [acme], ...named('acme-pay:stripe') },
    /is the gateway acme/,
  ],
  ['a driver of a gateway', { gateways: { stripe: { driver: 'stripe' } } }, /stripe itself/],
  ['a page of ours', named('pay:paddle'), /the name pay is one of Quittance/],
  ['our variables', named('billing-api:monobank'), /the name billing-api is one of Quittance/],
  ['our processes', named('quittance-run:monobank'), /quittance-run is one of Quittance/],
  [
    'a misspelt gateway',
    named('stripe-eu:strpe'),
    /stripe-eu is of an unknown gateway; did you mean stripe\? There are fake,/,
  ],
  [
    'an unknown gateway',
    { gateways: { eu: { driver: 'paypal' } } },
    /^setting_invalid: gateways\.eu\.driver: eu is of an unknown gateway; there are/,
  ],
  ['a blank gateway', { gateways: { eu: { driver: '' } } }, /eu is of an unknown gateway/],
  ['an account', named('eu:stripe,at:eu'), /at is of an unknown gateway/],
  ['a name twice', named('eu:stripe,eu:stripe'), /BILLING_GATEWAYS names eu twice/],
  [
    'two gateways',
    { ...named('eu:stripe'), gateways: { eu: { driver: 'paddle' } } },
    /eu cannot be an account of two gateways: BILLING_GATEWAYS says of stripe, gateways\.eu\.driver of paddle/,
  ],
  [
    'a variable of a gateway',
    named('paddle-client:monobank'),
    /BILLING_GATEWAYS: the variable PADDLE_CLIENT_TOKEN of paddle-client is one of paddle already — Give the account another name/,
  ],
  [
    'our variable',
    { extraGateways: [acme], ...named('database:acme') },
    /DATABASE_URL of database is one of Quittance already/,
  ],
  [
    'two accounts of one variable',
    {
      extraGateways: [
        acme,
        {
          ...acme,
          name: 'other',
          aliases: [],
          credentials: { b_secret: acme.credentials['secret'] },
        },
      ],
      ...named('a-b:acme,a:other'),
    },
    /A_B_SECRET of a is one of a-b already/,
  ],
  [
    'a misspelt field',
    { gateways: { eu: { driver: 'stripe', signing_secrt: 'x' } } },
    /gateways\.eu\.signing_secrt is no setting of this gateway; did you mean signing_secret\?/,
  ],
  [
    'another gateway’s field',
    { gateways: { eu: { driver: 'stripe', private_key: 'x' } } },
    /gateways\.eu\.private_key is no setting of this gateway; there are signing_secret,/,
  ],
  [
    'no driver',
    { gateways: { 'stripe-eu': { signing_secret: 'x' } } },
    /^gateway_unknown: gateways\.stripe-eu: no such gateway; there are .* — .*driver/,
  ],
  [
    'a misspelt account',
    { ...named('stripe-eu:stripe'), gateways: { 'stripe-ue': {} } },
    /^gateway_unknown: .* did you mean stripe-eu\?/,
  ],
  [
    'a misspelt driver',
    { gateways: { eu: { drivr: 'stripe' } } },
    /^gateway_unknown: gateways\.eu: no such gateway/,
  ],
  [
    'a driver that is no text',
    { gateways: { eu: { driver: 1 } } },
    /gateways\.eu\.driver must be a text/,
  ],
  [
    'a wrong value',
    { environment: { BILLING_GATEWAYS: 'eu:stripe', EU_API_BASE: 'x' } },
    /^setting_invalid: EU_API_BASE must be/,
  ],
] as const) {
  test(`an account with ${what} is refused`, () => {
    assert.match(refusal(options), message)
  })
}

test('no refusal repeats what may be a secret that was pasted in the wrong place', () => {
  for (const options of [
    named('sk_live_hush9b2f'),
    named('eu:stripe,sk_live_hush9b2f'),
    named('eu:sk_live_hush9b2f'),
    named('https://user:hush9b2f@host'),
    { gateways: { eu: { driver: 'sk_live_hush9b2f' } } },
  ]) {
    assert.doesNotMatch(refusal(options), /hush9b2f|were taken/)
  }
})
