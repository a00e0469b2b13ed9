import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCredentials } from '../../credentials.ts'
import type { SignInput } from '../../gateway.ts'
import {
  credentialsOf,
  parse,
  privateKey,
  publicKey,
  verdictOf,
} from '../../../../test/gateways/liqpay/callbacks.ts'
import { signInput } from '../../../../test/providers/kit.ts'
import { liqpay } from '../index.ts'
import { interpretLiqpay } from '../interpret.ts'
import { majorUnits } from './callback.ts'
import { liqpaySigner } from './sign.ts'

const input = signInput(credentialsOf())

const signed = (change: Partial<SignInput> = {}) => liqpaySigner.sign({ ...input, ...change })
const outcomesOf = (change: Partial<SignInput> = {}) => interpretLiqpay(parse(signed(change).body))
const dataOf = (change: Partial<SignInput> = {}) => {
  const data = new URLSearchParams(signed(change).body).get('data') ?? ''
  return JSON.parse(Buffer.from(data, 'base64').toString()) as Record<string, unknown>
}

// The last twelve digits of the payment’s id, as a number behind a billion.
const operation = '51812219828225'

test('an id of another provider is no operation: the payment has its own', () => {
  const foreign = { ...input.payment, providerReference: 'pi_1' }
  assert.equal(dataOf({ payment: foreign })['payment_id'], Number(operation))
})

test('a sandbox key says sandbox where a live one says success', () => {
  assert.equal(dataOf()['status'], 'success')
  const sandbox = readCredentials(
    liqpay,
    { LIQPAY_PUBLIC_KEY: `sandbox_${publicKey}`, LIQPAY_PRIVATE_KEY: privateKey },
    { production: true },
  )
  assert.equal(dataOf({ credentials: sandbox })['status'], 'sandbox')
  assert.equal(dataOf({ payment: { ...input.payment, live: false } })['status'], 'sandbox')
})

test('amounts are written as LiqPay prints them, exactly', () => {
  const cases = [
    [15075n, 'UAH', '150.75'],
    [18000n, 'UAH', '180.0'],
    [18050n, 'UAH', '180.5'],
    [5n, 'UAH', '0.05'],
    [0n, 'UAH', '0.0'],
    [100n, 'UAH', '1.0'],
    [5000n, 'JPY', '5000.0'],
    [12345n, 'KWD', '12.345'],
    [999999999999999n, 'UAH', '9999999999999.99'],
  ] as const
  for (const [amount, currency, text] of cases) {
    assert.equal(majorUnits(amount, currency), text)
    const [outcome] = outcomesOf({ payment: { ...input.payment, amount, currency } })
    assert.ok(outcome?.type === 'payment')
    assert.equal(outcome.amount, amount, text)
  }
})

test('a blank, a plus and a slash survive the form', () => {
  const bodies = Array.from({ length: 50 }, (_, index) =>
    signed({ now: new Date(input.now.getTime() + index) }),
  )
  assert.ok(bodies.some(({ body }) => body.includes('%2B') || body.includes('%2F')))
  for (const { body } of bodies) assert.deepEqual(verdictOf(body), { valid: true })
})

test('the public key is the account that payments are bound to, and tells their mode', () => {
  const accountOf = (key: string) =>
    liqpay.account(readCredentials(liqpay, { LIQPAY_PUBLIC_KEY: key }, { production: true }))
  assert.deepEqual(accountOf('i1'), { merchantAccount: 'i1', live: true })
  assert.deepEqual(accountOf('sandbox_i1'), { merchantAccount: 'sandbox_i1', live: false })
  assert.deepEqual(accountOf(''), { merchantAccount: null, live: null })
  assert.throws(() => accountOf('i1,i2'), { code: 'setting_invalid' })
})

test('the private keys of LiqPay’s documentation are refused in production', () => {
  for (const key of ['your_private_key', 'a4825234f4bae72a0be04eafe9e8e2bada209255']) {
    assert.throws(() => credentialsOf(`${privateKey},${key}`), { code: 'setting_invalid' })
    assert.equal(credentialsOf(key, false).configured, true)
  }
})
