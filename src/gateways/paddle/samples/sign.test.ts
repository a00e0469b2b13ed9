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

const paid = {
  type: 'payment',
  claimed: { id: paymentId, by: 'payer' },
  status: 'paid',
  amount: 4999n,
  currency: 'UAH',
}

test('callbacks about one payment name the same transaction, refund and card', async () => {
  const checkouts = new Set<unknown>()
  const refunds = new Map<string, string>()
  for (const scenario of names) {
    const outcome = await outcomeOf({ scenario })
    if (outcome.type === 'refund' || outcome.type === 'dispute') {
      assert.ok('checkoutReference' in outcome.payment)
      checkouts.add(outcome.payment.checkoutReference)
    }
    if (outcome.type === 'payment' && outcome.renews === undefined) {
      checkouts.add(outcome.checkoutReference)
    }
    if (outcome.type === 'refund' && 'refundReference' in outcome) {
      refunds.set(scenario, outcome.refundReference)
    }
  }
  assert.equal(checkouts.size, 1)
  assert.equal(new Set(refunds.values()).size, 3)
  assert.equal(refunds.get('refund_pending'), refunds.get('refunded'))
  assert.equal(refunds.get('refund_rejected'), refunds.get('refunded'))
  const [saved, removed] = await Promise.all(
    ['card_saved', 'card_removed'].map((scenario) => outcomeOf({ scenario })),
  )
  assert.ok(saved?.type === 'payment_method' && removed?.type === 'payment_method')
  assert.equal(saved.reference, removed.reference)
})

test('ids look like those of Paddle, and differ from payment to payment', async () => {
  const outcome = await outcomeOf()
  assert.ok(outcome.type === 'payment')
  assert.match(outcome.checkoutReference ?? '', /^txn_[a-z0-9]{26}$/)
  const payment = { ...input.payment, id: paymentId.replace(/1$/, '2') }
  const other = await outcomeOf({ payment })
  assert.ok(other.type === 'payment')
  assert.notEqual(other.checkoutReference, outcome.checkoutReference)
})

test("the payment's own transaction is used where it has one, but not for its renewals", async () => {
  const payment = { ...input.payment, checkoutReference: transactionId }
  const outcome = await outcomeOf({ payment })
  const named = { payment: { checkoutReference: transactionId }, checkoutReference: transactionId }
  assert.deepEqual(outcome, { ...paid, ...named })
  const refund = await outcomeOf({ payment, scenario: 'refunded' })
  assert.ok(refund.type === 'refund')
  assert.deepEqual(refund.payment, { checkoutReference: transactionId })
  const renewed = await outcomeOf({ payment, scenario: 'renewed' })
  assert.ok(renewed.type === 'payment')
  assert.notEqual(renewed.checkoutReference, transactionId)
  assert.deepEqual([renewed.renews, renewed.claimed?.id], ['subscription', paymentId])
})

test('the largest amount is written exactly, and an odd one is halved without a loss', async () => {
  const payment = { ...input.payment, amount: 9007199254740991n }
  assert.match(sign({ payment }).body, /"total":"9007199254740991"/)
  const shares = await Promise.all(
    ['refunded_half', 'refunded_rest'].map(async (scenario) => {
      const outcome = await outcomeOf({ payment, scenario })
      return outcome.type === 'refund' && 'amount' in outcome ? outcome.amount : undefined
    }),
  )
  assert.deepEqual(shares, [4503599627370495n, 4503599627370496n])
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
