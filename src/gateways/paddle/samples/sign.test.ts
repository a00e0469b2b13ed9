import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCredentials } from '../../credentials.ts'
import type { SignInput } from '../../gateway.ts'
import {
  contextOf,
  interpretText,
  paymentId,
  transactionId,
} from '../../../../test/gateways/paddle/events.ts'
import { officialWebhooks } from '../../../../test/gateways/paddle/official.ts'
import { signInput } from '../../../../test/providers/kit.ts'
import { paddle } from '../index.ts'
import { paddleSigner } from './sign.ts'

const secrets = ['pdl_ntfset_current_0123456789', 'pdl_ntfset_previous_0123456789']
const credentialsOf = (values: readonly string[]) =>
  readCredentials(paddle, { PADDLE_SIGNING_SECRET: values.join(',') }, { production: true })

const input = signInput(credentialsOf(secrets.slice(0, 1)))

const names = Object.keys(paddleSigner.scenarios)
const sign = (change: Partial<SignInput> = {}) => paddleSigner.sign({ ...input, ...change })
const outcomeOf = (change: Partial<SignInput> = {}) => interpretText(sign(change).body)

test('the official package verifies and reads every scenario', async () => {
  for (const scenario of names) {
    const { headers, body } = sign({ scenario, now: new Date() })
    const header = headers['paddle-signature'] ?? ''
    const event = await officialWebhooks.unmarshal(body, secrets[0] ?? '', header)
    const { event_type: type } = JSON.parse(body) as { readonly event_type: string }
    assert.equal(event?.eventType, type, scenario)
    assert.notEqual(event?.constructor.name, 'GenericEvent', scenario)
    const stranger = secrets[1] ?? ''
    assert.equal(await officialWebhooks.isSignatureValid(body, stranger, header), false)
  }
})

test('with two secrets there are two h1, of which the official package reads the last', async () => {
  const { headers, body } = sign({ credentials: credentialsOf(secrets), now: new Date() })
  const header = headers['paddle-signature'] ?? ''
  assert.match(header, /^ts=\d+;h1=[0-9a-f]{64};h1=[0-9a-f]{64}$/)
  const official = secrets.map((one) => officialWebhooks.isSignatureValid(body, one, header))
  assert.deepEqual(await Promise.all(official), [false, true])
  const request = { headers, body: Buffer.from(body) }
  for (const one of secrets) {
    const verdict = await paddle.verify(request, credentialsOf([one]), new Date())
    assert.deepEqual(verdict, { valid: true })
  }
})

test('a callback is compact, and its keys come in the order in which Paddle sends them', () => {
  const { body } = sign()
  const keys = ['data', 'event_id', 'event_type', 'occurred_at', 'notification_id']
  assert.deepEqual(Object.keys(JSON.parse(body) as object), keys)
  assert.equal(body, JSON.stringify(JSON.parse(body)))
})

test("the payment's own transaction is used for its refunds, but not for its renewals", async () => {
  const payment = { ...input.payment, checkoutReference: transactionId }
  const refund = await outcomeOf({ payment, scenario: 'refunded' })
  assert.ok(refund.type === 'refund')
  assert.deepEqual(refund.payment, { checkoutReference: transactionId })
  const renewed = await outcomeOf({ payment, scenario: 'renewed' })
  assert.ok(renewed.type === 'payment')
  assert.notEqual(renewed.checkoutReference, transactionId)
  assert.deepEqual([renewed.renews, renewed.claimed?.id], ['subscription', paymentId])
})

test('the API key tells whether payments are live, and keys that disagree tell nothing', () => {
  const cases = [
    ['pdl_live_apikey_1', true],
    ['pdl_live_apikey_1,pdl_live_apikey_2', true],
    ['pdl_sdbx_apikey_1', false],
    ['pdl_sdbx_apikey_1,pdl_sdbx_apikey_2', false],
    ['pdl_live_apikey_1,pdl_sdbx_apikey_2', null],
    ['pdl_live_apikey_1,other', null],
    ['xpdl_live_apikey_1', null],
    ['0123456789abcdef', null],
    ['', null],
  ] as const
  for (const [keys, live] of cases) {
    const credentials = readCredentials(paddle, { PADDLE_API_KEY: keys }, { production: true })
    assert.deepEqual(paddle.account(credentials), { merchantAccount: null, live }, keys)
  }
})

test('settings have the live API and the window of 300 s where nothing is set', () => {
  const { settings, configured } = contextOf().credentials
  assert.deepEqual(settings, { api_base: 'https://api.paddle.com', tolerance_seconds: '300' })
  assert.equal(configured, true)
  const beta = { BETA_SIGNING_SECRET: 'pdl_ntfset_beta', BETA_API_BASE: 'http://127.0.0.1:1' }
  const aliased = readCredentials(paddle, beta, { production: true })
  assert.equal(aliased.configured, true)
  assert.equal(aliased.settings.api_base, 'http://127.0.0.1:1')
  for (const setting of [{ PADDLE_API_BASE: 'file:///x' }, { PADDLE_TOLERANCE_SECONDS: '0' }]) {
    assert.throws(() => readCredentials(paddle, setting, { production: true }), {
      code: 'setting_invalid',
    })
  }
})
