import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountOf } from './accounts.ts'
import { readCredentials } from './credentials.ts'
import { liqpay } from './liqpay/index.ts'
import { paddle } from './paddle/index.ts'
import { createRegistry } from './registry.ts'
import { sharedSecrets } from './shared-secrets.ts'
import { stripe } from './stripe/index.ts'

/** Names with what they share, of gateways with these settings. */
function shared(
  given: readonly (readonly [gateway: typeof stripe, config: Readonly<Record<string, string>>])[],
): readonly string[] {
  const credentials = Object.fromEntries(
    given.map(([gateway, config]) => [
      gateway.name,
      readCredentials(gateway, {}, { production: false, config }),
    ]),
  )
  const registry = createRegistry(
    given.map(([gateway]) => gateway),
    credentials,
  )
  return sharedSecrets(registry).map(({ names, field }) => `${names.join()} ${field}`)
}

const [eu, us] = [accountOf(stripe, 'stripe-eu'), accountOf(stripe, 'stripe-us')]

test('a secret that several names of one gateway have is found, also among others', () => {
  assert.deepEqual(
    shared([
      [stripe, { signing_secret: 'one', secret_key: 'sk_1' }],
      [eu, { signing_secret: 'two,one', secret_key: 'sk_2' }],
      [us, { signing_secret: 'three', secret_key: 'sk_2,sk_3' }],
    ]),
    ['stripe,stripe-eu signing_secret', 'stripe-eu,stripe-us secret_key'],
  )
  assert.deepEqual(shared([stripe, eu, us].map((one) => [one, { signing_secret: 'one,two' }])), [
    'stripe,stripe-eu,stripe-us signing_secret',
  ])
})

test('one that is in another field, of another gateway, or no secret is not', () => {
  const books = accountOf(liqpay, 'books')
  assert.deepEqual(
    shared([
      [stripe, { signing_secret: 'one' }],
      [eu, { secret_key: 'one' }],
      [paddle, { signing_secret: 'one' }],
      [liqpay, { public_key: 'i1', private_key: 'a' }],
      [books, { public_key: 'i1', private_key: 'b' }],
      [us, {}],
    ]),
    [],
  )
})
