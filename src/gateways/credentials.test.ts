import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { test } from 'node:test'
import { builtin } from './builtin.ts'
import { credentialWarnings, neededCredentials, readCredentials } from './credentials.ts'
import { fake } from './fake/index.ts'
import { stripe } from './stripe/index.ts'

const development = { production: false }
const production = { production: true }

const revealed = (values: Record<string, string | undefined>, field = 'signing_secret') =>
  readCredentials(stripe, values, development).secrets[field]?.map((one) => one.reveal())

test('secrets are read from the environment, several separated by commas', () => {
  const credentials = readCredentials(
    stripe,
    { STRIPE_SIGNING_SECRET: ' whsec_new , whsec_old ' },
    development,
  )
  assert.equal(credentials.configured, true)
  assert.deepEqual(
    credentials.secrets.signing_secret?.map((one) => one.reveal()),
    ['whsec_new', 'whsec_old'],
  )
  assert.deepEqual(credentials.settings, {
    api_base: 'https://api.stripe.com',
    tolerance_seconds: '300',
  })
})

test('an empty secret, blanks and the texts undefined and null are not configured', () => {
  for (const text of [undefined, '', '   ', 'undefined', 'null', ' , ', 'undefined,null']) {
    const values = { STRIPE_SIGNING_SECRET: text }
    assert.equal(readCredentials(stripe, values, development).configured, false, String(text))
    assert.deepEqual(revealed(values), [])
  }
})

test('alias names count where the usual name holds nothing', () => {
  assert.deepEqual(revealed({ ALPHA_SIGNING_SECRET: 'whsec_alpha' }), ['whsec_alpha'])
  assert.deepEqual(revealed({ STRIPE_SIGNING_SECRET: ' ', ALPHA_SIGNING_SECRET: 'a' }), ['a'])
  assert.deepEqual(revealed({ STRIPE_SIGNING_SECRET: 's', ALPHA_SIGNING_SECRET: 'a' }), ['s'])
})

test('the environment wins over the configuration file', () => {
  const options = { production: false, config: { signing_secret: 'file', api_base: undefined } }
  const read = (values: Record<string, string>) =>
    readCredentials(stripe, values, options).secrets.signing_secret?.map((one) => one.reveal())
  assert.deepEqual(read({}), ['file'])
  assert.deepEqual(read({ STRIPE_SIGNING_SECRET: 'environment' }), ['environment'])
  assert.deepEqual(read({ ALPHA_SIGNING_SECRET: 'environment' }), ['environment'])
})

test('nonsense in a setting stops with the name of the setting, and does not repeat the value', () => {
  const cases = [
    ['STRIPE_TOLERANCE_SECONDS', '0'],
    ['STRIPE_TOLERANCE_SECONDS', '-5'],
    ['STRIPE_TOLERANCE_SECONDS', '300s'],
    ['STRIPE_TOLERANCE_SECONDS', '1e3'],
    ['STRIPE_TOLERANCE_SECONDS', '3601'],
    ['ALPHA_TOLERANCE_SECONDS', 'Infinity'],
    ['STRIPE_API_BASE', 'api.stripe.com'],
    ['STRIPE_API_BASE', 'file:///etc/passwd'],
  ] as const
  for (const [name, text] of cases) {
    assert.throws(
      () => readCredentials(stripe, { [name]: text }, development),
      (error: Error & { code?: string }) =>
        error.code === 'setting_invalid' &&
        error.message.startsWith(`${name} must be `) &&
        error.message.endsWith(`what is set there (${text.length} characters) is not`),
      `${name}=${text}`,
    )
  }
})

/** What may be pasted into the wrong setting, and a part of it that nothing else contains. */
const pasted = [
  { text: 'sk_live_hush9b2f, and "more"', part: 'hush9b2f' },
  {
    text: `-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIhush9b2f\n-----END EC PRIVATE KEY-----`,
    part: 'hush',
  },
  { text: Buffer.from('-----BEGIN PRIVATE KEY-----\nMIGH').toString('base64'), part: 'LS0tLS1C' },
  { text: 'https://user:hush9b2f@', part: 'hush9b2f' },
  { text: 'hush9b2f'.repeat(5), part: 'hush9b2f' },
  { text: `sandbox_${'hush9b2f'.repeat(5)}`, part: 'hush9b2f' },
]

for (const { name, credentials } of builtin) {
  test(`no error about the settings of ${name} repeats a secret that was pasted there`, () => {
    for (const [fieldName, { env, accepts, isSwitch }] of Object.entries(credentials)) {
      for (const { text, part } of pasted) {
        for (const [values, config] of [
          [Object.fromEntries(env.map((key) => [key, text])), {}],
          [{}, { [fieldName]: text }],
        ] as const) {
          const read = () =>
            readCredentials({ name, credentials }, values, { production: false, config })
          if (accepts === undefined && isSwitch === undefined) read()
          else assert.throws(read, (error: unknown) => !inspect(error).includes(part), fieldName)
        }
      }
    }
  })
}

test('a misspelt field or a value that is no text in the configuration is refused', () => {
  const read = (config: Record<string, string>) => () =>
    readCredentials(stripe, {}, { production: false, config })
  assert.throws(read({ signing_secrt: 'x' }), /gateways\.stripe\.signing_secrt is no setting/)
  assert.throws(read({ toString: 'x' }), /gateways\.stripe\.toString is no setting/)
  assert.throws(
    read({ signing_secret: ['whsec_hidden'] as unknown as string }),
    (error: Error) =>
      /must be a text, got object/.test(error.message) && !/hidden/.test(error.message),
  )
})

test('the fake gateway is on outside production, and in production only by BILLING_FAKE=on', () => {
  const cases = [
    [{}, development, true],
    [{ BILLING_FAKE: 'on' }, development, true],
    [{ BILLING_FAKE: 'off' }, development, false],
    [{}, production, false],
    [{ BILLING_FAKE: '' }, production, false],
    [{ BILLING_FAKE: 'off' }, production, false],
    [{ BILLING_FAKE: 'on' }, production, true],
  ] as const
  for (const [values, options, expected] of cases) {
    assert.equal(
      readCredentials(fake, values, options).configured,
      expected,
      JSON.stringify(values),
    )
  }
  for (const text of ['ON', 'true', '1', 'yes']) {
    assert.throws(() => readCredentials(fake, { BILLING_FAKE: text }, production), /`on` or `off`/)
  }
})

test('a short secret gives a warning that names the setting and not the secret', () => {
  const warningsOf = (text: string) =>
    credentialWarnings(stripe, readCredentials(stripe, { STRIPE_SIGNING_SECRET: text }, production))
  assert.deepEqual(warningsOf('whsec_0123456789'), [])
  const [warning] = warningsOf('whsec_0123456789,short')
  assert.match(warning ?? '', /^STRIPE_SIGNING_SECRET of gateway stripe is shorter than 16/)
  assert.doesNotMatch(warning ?? '', /\bshort\b/)
})

test('credentials show no secret when they are printed', () => {
  const read = readCredentials(stripe, { STRIPE_SIGNING_SECRET: 'whsec_hidden' }, production)
  assert.doesNotMatch(JSON.stringify(read) + inspect(read, { depth: 9 }), /hidden/)
})

const field = { secret: false, required: false, description: 'A setting.' }
const shop = {
  name: 'shop',
  credentials: {
    token: { ...field, env: ['SHOP_TOKEN'], secret: true },
    public_key: { ...field, env: ['SHOP_KEY'], required: true, requiredUnless: 'token' },
    account: { ...field, env: ['SHOP_ACCOUNT'], required: true, publicValues: ['demo'] },
    password: { ...field, env: ['SHOP_PASSWORD'], secret: true, publicValues: ['s3cret', 'test'] },
  },
}

test('a required field may be left out where another one makes it needless', () => {
  const configured = (values: Record<string, string>) =>
    readCredentials(shop, { SHOP_ACCOUNT: 'mine', ...values }, production).configured
  assert.deepEqual(neededCredentials(shop), ['SHOP_TOKEN or SHOP_KEY', 'SHOP_ACCOUNT'])
  assert.equal(configured({}), false)
  assert.equal(configured({ SHOP_TOKEN: ' ' }), false)
  assert.equal(configured({ SHOP_TOKEN: 't' }), true)
  assert.equal(configured({ SHOP_KEY: 'k' }), true)
  assert.equal(readCredentials(shop, { SHOP_TOKEN: 't' }, production).configured, false)
})

test("a provider's public test values work in development, and stop the start-up in production", () => {
  for (const values of [
    { SHOP_ACCOUNT: 'demo' },
    { SHOP_ACCOUNT: 'mine', SHOP_PASSWORD: 'own, s3cret ' },
    { SHOP_ACCOUNT: 'mine', SHOP_PASSWORD: 'test' },
  ]) {
    readCredentials(shop, values, development)
    assert.throws(
      () => readCredentials(shop, values, production),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'setting_invalid')
        assert.match(error.message, /^SHOP_(ACCOUNT|PASSWORD) is a public test value/)
        assert.doesNotMatch(error.message, /s3cret/)
        return true
      },
    )
  }
  readCredentials(shop, { SHOP_ACCOUNT: 'mine', SHOP_PASSWORD: 'tested' }, production)
  const config = { account: 'demo' }
  assert.throws(() => readCredentials(shop, {}, { ...production, config }), {
    message: /^gateways\.shop\.account is a public test value/,
  })
})
