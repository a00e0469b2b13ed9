import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCredentials } from '../../credentials.ts'
import type { SignInput } from '../../gateway.ts'
import {
  credentialsOf,
  key,
  merchant,
  official,
  paymentId,
  verdictOf,
} from '../../../../test/gateways/hutko/callbacks.ts'
import { signInput } from '../../../../test/providers/kit.ts'
import { hutko } from '../index.ts'
import { isLive, isMerchantId, sampleMerchantId } from '../merchant.ts'
import { hutkoSigner } from './sign.ts'

const input = signInput(credentialsOf(), { now: new Date('2026-11-20T09:08:07Z') })

const bodyOf = (change: Partial<SignInput> = {}) => hutkoSigner.sign({ ...input, ...change }).body
const fieldsOf = (change: Partial<SignInput> = {}) =>
  JSON.parse(bodyOf(change)) as Record<string, unknown>

test('the official package accepts every scenario', () => {
  for (const scenario of Object.keys(hutkoSigner.scenarios)) {
    const text = bodyOf({ scenario })
    assert.equal(verdictOf(text), 'valid', scenario)
    const parameters: object = text.startsWith('{')
      ? (JSON.parse(text) as object)
      : Object.fromEntries(new URLSearchParams(text))
    assert.ok(official.validateResponse(parameters, key), scenario)
  }
  const { order_id } = official.getConvertedResponse(
    'json',
    JSON.stringify({ response: fieldsOf({ scenario: 'paid_envelope' }) }),
    '2.0',
  ) as { order_id: string }
  assert.equal(order_id, paymentId)
})

test('a renewal is a charge of its own, whose order names that of the payment', () => {
  const renewal = fieldsOf({ scenario: 'renewed' })
  assert.notEqual(renewal.payment_id, fieldsOf().payment_id)
  assert.deepEqual([renewal.order_id, renewal.parent_order_id], [input.newId(), paymentId])
})

test('an order is of the merchant of the settings, and tells the time by day, month and year', () => {
  const fields = fieldsOf()
  assert.equal(fields.merchant_id, Number(merchant))
  assert.equal(fields.order_time, '20.11.2026 09:08:07')
})

test('payments are bound to the merchant; only those of a test merchant are known to be no live ones', () => {
  const development = (merchantId: string) =>
    readCredentials(
      hutko,
      { HUTKO_MERCHANT_ID: merchantId, HUTKO_SECRET_KEY: 'test' },
      { production: false },
    )
  assert.deepEqual(hutko.account(credentialsOf()), { merchantAccount: merchant, live: null })
  for (const id of ['1396424', '1549901', '1700002']) {
    assert.deepEqual(hutko.account(development(id)), { merchantAccount: id, live: false })
  }
  assert.deepEqual(hutko.account(development('')), { merchantAccount: null, live: null })
  assert.equal(isLive('4815162', true), false)
  assert.equal(isLive('4815162', false), true)
  assert.equal(isLive('4815162'), undefined)
})

test('what the provider publishes for tests is refused in production', () => {
  for (const id of ['1396424', '1549901', '1700002']) {
    assert.throws(() => credentialsOf(key, id), { code: 'setting_invalid' })
  }
  for (const secret of ['test', 'testcredit', `${key},test`]) {
    assert.throws(() => credentialsOf(secret), { code: 'setting_invalid' })
  }
})

test('a merchant id is a plain number, and samples of it differ by owner', () => {
  for (const text of ['1', '4815162', '9'.repeat(18)]) assert.ok(isMerchantId(text), text)
  for (const text of ['', '0', '07', '1,2', '-1', '1e3', ' 1', '9'.repeat(19), 'M1']) {
    assert.ok(!isMerchantId(text), text)
  }
  assert.notEqual(sampleMerchantId('merchant'), sampleMerchantId('stranger'))
  assert.match(sampleMerchantId(''), /^[2-9]\d{6}$/)
})
