import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Stripe } from 'stripe'
import { readCredentials } from '../../credentials.ts'
import type { SignInput } from '../../gateway.ts'
import { signInput } from '../../../../test/providers/kit.ts'
import { stripe } from '../index.ts'
import { stripeSigner } from './sign.ts'

const secrets = ['whsec_current_0123456789', 'whsec_previous_0123456789']
const credentials = readCredentials(
  stripe,
  { STRIPE_SIGNING_SECRET: secrets.join(',') },
  { production: true },
)
const input = signInput(credentials)

interface SampleEvent {
  readonly livemode: boolean
  readonly account?: string
  readonly data: { readonly object: Record<string, unknown> }
}

const eventOf = (change: Partial<SignInput>) =>
  JSON.parse(stripeSigner.sign({ ...input, ...change }).body) as SampleEvent

test('the official package accepts every scenario under each of the secrets', () => {
  for (const scenario of Object.keys(stripeSigner.scenarios)) {
    const { headers, body } = stripeSigner.sign({ ...input, scenario })
    for (const secret of secrets) {
      const header = headers['stripe-signature'] ?? ''
      const receivedAt = input.now.getTime() / 1000
      const event = Stripe.webhooks.constructEvent(body, header, secret, 300, undefined, receivedAt)
      assert.equal(event.object, 'event', scenario)
    }
    assert.ok(body.startsWith('{\n  "id": "evt_'), 'pretty-printed as Stripe sends it')
  }
})

test('all scenarios of one payment name the same objects', () => {
  const found = new Map<string, Set<unknown>>()
  const note = (kind: string, id: unknown) =>
    typeof id === 'string' && found.set(kind, (found.get(kind) ?? new Set()).add(id))
  for (const scenario of Object.keys(stripeSigner.scenarios)) {
    const { object } = eventOf({ scenario }).data
    note(String(object.object), object.id)
    for (const kind of ['payment_intent', 'charge', 'payment_method']) note(kind, object[kind])
    note('charge', object.latest_charge)
  }
  const one = (prefix: string) => new Set([`${prefix}_0198f0aa4b1c7cc39d522f1f3d5a6e01`])
  const refund = '0198f0aa4b1c7cc39d522f1f3d5a6e01'
  assert.deepEqual(Object.fromEntries(found), {
    'checkout.session': one('cs_test'),
    payment_intent: one('pi'),
    charge: one('ch'),
    payment_method: one('pm'),
    refund: new Set([`re_${refund}`, `re_${refund}half`, `re_${refund}rest`]),
    dispute: one('du'),
    setup_intent: one('seti'),
    invoice: new Set([`in_${refund}`, `in_${refund}renewal`]),
    subscription: one('sub'),
  })
})

const byIntent = { providerReference: 'pi_0198f0aa4b1c7cc39d522f1f3d5a6e01' }

test('a renewal, known by its invoice, is refunded by its intent', () => {
  const payment = { ...input.payment, providerReference: 'in_1' }
  const { object } = eventOf({ scenario: 'refunded', payment }).data
  assert.equal(object.payment_intent, byIntent.providerReference)
})

test('the account of the payment is named where it has one, and its mode twice', () => {
  const payment = {
    ...input.payment,
    merchantAccount: 'acct_9',
    live: true,
  }
  const event = eventOf({ payment })
  assert.equal(event.account, 'acct_9')
  assert.equal(event.livemode, true)
  assert.equal(event.data.object.livemode, true)
  assert.equal('account' in eventOf({}), false)
})

test('the API key tells whether payments are live, and keys that disagree tell nothing', () => {
  const cases = [
    ['sk_live_1', true],
    ['rk_live_1', true],
    ['sk_live_1,rk_live_2', true],
    ['sk_test_1', false],
    ['rk_test_1,sk_test_2', false],
    ['sk_live_1,sk_test_2', null],
    ['sk_live_1,other', null],
    ['pk_live_1', null],
    ['xsk_live_1', null],
    ['', null],
  ] as const
  for (const [keys, live] of cases) {
    const credentials = readCredentials(stripe, { STRIPE_SECRET_KEY: keys }, { production: true })
    assert.deepEqual(stripe.account(credentials), { merchantAccount: null, live }, keys)
  }
})
