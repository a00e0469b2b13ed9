import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from './settings.ts'

test('a gateway that is half set, and a variable that is not a setting, are named', () => {
  const key = 'a-key-that-is-long-enough'
  const { warnings } = readSettings({
    database: { memory: true },
    environment: {
      LIQPAY_PUBLIC_KEY: 'i00000000',
      STRIPE_SECRET_KEY: `sk_test_${key}`,
      MONOBANK_SIGNING_KEY: key,
      PADDLE_SIGNING_SECRET: key,
      BILLING_RETURN_ORIGIN: 'https://shop.example',
      BILLING_FOO: '1',
      STRIPE_SIGNING_SECERT: key,
      DATABASE_ULR: '1',
      // Nothing speaks against these: of others, blank, near to one that is set, without a word in common,
      // of a service of Kubernetes that is called billing.
      STRIPE_PUBLISHABLE_KEY: 'pk_test',
      BILLING_BAR: ' ',
      PADDLE_SIGNING_SECRETS: key,
      HUTKO_API_BASE: 'https://pay.hutko.org',
      PORTS: '80',
      BILLING_SERVICE_HOST: '10.0.0.7',
      BILLING_SERVICE_PORT: '80',
      BILLING_SERVICE_PORT_HTTP: '80',
      BILLING_PORT: 'tcp://10.0.0.7:80',
      BILLING_PORT_80_TCP: 'tcp://10.0.0.7:80',
      BILLING_PORT_80_TCP_PROTO: 'tcp',
      BILLING_PORT_80_TCP_PORT: '80',
      BILLING_PORT_80_TCP_ADDR: '10.0.0.7',
    },
  })
  assert.deepEqual(warnings, [
    'BILLING_RETURN_ORIGIN is set, but is not a setting; did you mean BILLING_RETURN_ORIGINS?',
    'BILLING_FOO is set, but is not a setting',
    'STRIPE_SIGNING_SECERT is set, but is not a setting; did you mean STRIPE_SIGNING_SECRET?',
    'DATABASE_ULR is set, but is not a setting; did you mean DATABASE_URL?',
    'gateway stripe has STRIPE_SECRET_KEY, but not STRIPE_SIGNING_SECRET: its callbacks are refused',
    'gateway monobank has MONOBANK_SIGNING_KEY, but not MONOBANK_TOKEN or MONOBANK_PUBLIC_KEY: its callbacks are refused',
    'gateway liqpay has LIQPAY_PUBLIC_KEY, but not LIQPAY_PRIVATE_KEY: its callbacks are refused',
  ])
})
