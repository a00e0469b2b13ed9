import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountOf, driverOf } from './accounts.ts'
import { builtin } from './builtin.ts'
import { readCredentials } from './credentials.ts'
import { descriptorFault } from './descriptor.ts'
import { monobank } from './monobank/index.ts'
import { paddle } from './paddle/index.ts'
import { stripe } from './stripe/index.ts'

test('a gateway is its own driver; an account has that of which it is one', () => {
  for (const gateway of builtin) {
    assert.equal(driverOf(gateway), gateway.name)
    const account = accountOf(gateway, `${gateway.name}-eu`)
    assert.equal(driverOf(account), gateway.name)
    assert.equal(descriptorFault(account), undefined)
  }
})

test('an account differs from its gateway in its name and its variables alone', () => {
  for (const gateway of builtin) {
    const account = accountOf(gateway, 'shop-2')
    const { name, aliases, driver, credentials, registration, ...same } = account
    assert.deepEqual([name, aliases, driver], ['shop-2', [], gateway.name])
    const { name: _, aliases: __, credentials: fields, registration: registered, ...rest } = gateway
    assert.deepEqual(same, rest)
    assert.deepEqual(Object.keys(credentials), Object.keys(fields))
    for (const [field, { env, description, ...about }] of Object.entries(credentials)) {
      assert.deepEqual(env, [`SHOP_2_${field.toUpperCase()}`])
      assert.deepEqual(
        { ...about, env: fields[field]?.env, description },
        {
          ...fields[field],
          description,
        },
      )
    }
    assert.deepEqual({ ...registration, notes: [] }, { ...registered, notes: [] })
  }
})

test('what is said of an account names its own variables', () => {
  const key = accountOf(monobank, 'mono-shop').credentials['signing_key']
  assert.match(key?.description ?? '', /private half of MONO_SHOP_PUBLIC_KEY,/)
  const notes = accountOf(stripe, 'stripe-eu').registration?.notes ?? []
  assert.match(notes.join('\n'), /the first STRIPE_EU_SECRET_KEY decides which/)
  assert.doesNotMatch(notes.join('\n'), /STRIPE_SECRET_KEY/)
  assert.deepEqual(accountOf(paddle, 'paddle-eu').registration?.notes, paddle.registration?.notes)
})

test('credentials say whose they are, and by which variable each of them is usually set', () => {
  const account = accountOf(stripe, 'stripe-eu')
  const values = { STRIPE_SIGNING_SECRET: 'plain', STRIPE_EU_SIGNING_SECRET: 'of_the_account' }
  const read = readCredentials(account, values, { production: true })
  assert.equal(read.gateway, 'stripe-eu')
  assert.equal(read.variables?.['secret_key'], 'STRIPE_EU_SECRET_KEY')
  assert.deepEqual(
    read.secrets['signing_secret']?.map((one) => one.reveal()),
    ['of_the_account'],
  )
  assert.equal(
    readCredentials(account, { STRIPE_SIGNING_SECRET: 'x' }, { production: true }).configured,
    false,
  )
})
