import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { readCredentials } from '../../credentials.ts'
import type { SignInput } from '../../gateway.ts'
import { publicKey, signingPem } from '../../../../test/gateways/monobank/keys.ts'
import { signInput } from '../../../../test/providers/kit.ts'
import { monobank } from '../index.ts'
import { monobankSigner } from './sign.ts'
import { readSigningKey, sampleKeys } from './signing-key.ts'

const now = new Date('2026-11-20T12:00:00.900Z')
const signingKey = Buffer.from(signingPem).toString('base64')

const credentialsOf = (values: Readonly<Record<string, string>>) =>
  readCredentials(monobank, values, { production: false })
const credentials = credentialsOf({
  MONOBANK_PUBLIC_KEY: publicKey,
  MONOBANK_SIGNING_KEY: signingKey,
})

const input = (scenario: string, more: Partial<SignInput> = {}) =>
  signInput(credentials, {
    scenario,
    now,
    payment: { checkoutReference: '2611208aB7cD9eF' },
    ...more,
  })

test('a paid callback has the fields of the bank, in seconds and minor units', () => {
  const { headers, body } = monobankSigner.sign(input('paid'))
  assert.equal(headers['content-type'], 'application/json')
  const { paymentInfo, ...fields } = JSON.parse(body) as Record<string, unknown>
  assert.deepEqual(fields, {
    invoiceId: '2611208aB7cD9eF',
    status: 'success',
    amount: 4999,
    ccy: 980,
    finalAmount: 4999,
    createdDate: '2026-11-20T11:58:00Z',
    modifiedDate: '2026-11-20T12:00:00Z',
    reference: '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01',
    destination: 'Оплата замовлення',
  })
  assert.ok(paymentInfo)
})

test('what is left after refunds is the final amount', () => {
  const left = (scenario: string) =>
    (JSON.parse(monobankSigner.sign(input(scenario)).body) as Record<string, unknown>).finalAmount
  assert.deepEqual(['refunded_half', 'refunded_rest', 'refunded'].map(left), [2500, 0, 0])
})

test('without the test key of a configured public key nothing can be signed, and it says why', () => {
  const stranger = sampleKeys('stranger')
  const cases = [
    [{ MONOBANK_TOKEN: 'token' }, /only the bank has its private key/],
    [{ MONOBANK_PUBLIC_KEY: publicKey }, /only the bank has its private key/],
    [
      { MONOBANK_TOKEN: 'token', MONOBANK_SIGNING_KEY: signingKey },
      /does not name the public half/,
    ],
    [
      { MONOBANK_PUBLIC_KEY: publicKey, MONOBANK_SIGNING_KEY: stranger.signingKey },
      /does not name the public half/,
    ],
    [{ MONOBANK_PUBLIC_KEY: publicKey, MONOBANK_SIGNING_KEY: 'key' }, /is no such key/],
    [{ MONOBANK_PUBLIC_KEY: publicKey, MONOBANK_SIGNING_KEY: publicKey }, /is no such key/],
    [
      { MONOBANK_PUBLIC_KEY: publicKey, MONOBANK_SIGNING_KEY: `${signingKey},key` },
      /is no such key/,
    ],
  ] as const
  for (const [values, message] of cases) {
    const attempt = () => monobankSigner.sign(input('paid', { credentials: credentialsOf(values) }))
    assert.throws(attempt, { code: 'gateway_cannot_sign', message, fix: /MONOBANK_SIGNING_KEY/ })
  }
})

test('of several test keys the one that a public key belongs to signs, in PEM or base64', async () => {
  const stranger = sampleKeys('stranger')
  for (const own of [signingKey, signingPem, signingPem.replaceAll('\n', String.raw`\n`)]) {
    const several = credentialsOf({
      MONOBANK_PUBLIC_KEY: publicKey,
      MONOBANK_SIGNING_KEY: `${stranger.signingKey},${own}`,
    })
    const { headers, body } = monobankSigner.sign(input('paid', { credentials: several }))
    const verdict = await monobank.verify({ headers, body: Buffer.from(body) }, credentials, now)
    assert.deepEqual(verdict, { valid: true })
  }
})

test('sample keys are a pair, the same for a name each time and another for each', () => {
  const one = sampleKeys('merchant')
  assert.deepEqual(sampleKeys('merchant'), one)
  assert.notEqual(sampleKeys('stranger').publicKey, one.publicKey)
  const key = readSigningKey(one.signingKey)
  assert.ok(key)
  const pem = createPublicKey(key).export({ type: 'spki', format: 'pem' })
  assert.equal(Buffer.from(pem).toString('base64'), one.publicKey)
})
