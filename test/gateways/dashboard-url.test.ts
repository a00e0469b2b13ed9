import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountOf } from '../../src/gateways/accounts.ts'
import { dashboardUrlOf } from '../../src/gateways/dashboard-url.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { paddle } from '../../src/gateways/paddle/index.ts'
import { createRegistry } from '../../src/gateways/registry.ts'
import { stripe } from '../../src/gateways/stripe/index.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { pendingPayment } from '../support/pending-payment.ts'

const registry = createRegistry([...builtin, accountOf(stripe, 'stripe-eu')], {})

const urlOf = (fields: Partial<Payment> & Pick<Payment, 'gateway'>) =>
  dashboardUrlOf(registry, pendingPayment(fields))

const ofStripe = (fields: Partial<Payment>) => urlOf({ gateway: 'stripe', live: true, ...fields })
const ofPaddle = (fields: Partial<Payment>) => urlOf({ gateway: 'paddle', live: true, ...fields })

test('a payment at Stripe is at its intent or invoice, in test mode below an address of its own', () => {
  const site = 'https://dashboard.stripe.com'
  const intent = { providerReference: 'pi_3Mt' }
  assert.equal(ofStripe(intent), `${site}/payments/pi_3Mt`)
  assert.equal(ofStripe({ ...intent, live: false }), `${site}/test/payments/pi_3Mt`)
  assert.equal(ofStripe({ ...intent, gateway: 'stripe-eu' }), `${site}/payments/pi_3Mt`)
  assert.equal(ofStripe({ providerReference: 'in_1' }), `${site}/invoices/in_1`)
})

test('a payment at Paddle is at its transaction, in a sandbox at another host', () => {
  const transaction = { checkoutReference: 'txn_01gm81' }
  const path = 'vendors.paddle.com/transactions-v2/txn_01gm81'
  assert.equal(ofPaddle(transaction), `https://${path}`)
  assert.equal(ofPaddle({ ...transaction, live: false }), `https://sandbox-${path}`)
})

test('of what is not known for sure, no address is made up', () => {
  const intent = { providerReference: 'pi_3Mt' }
  assert.equal(ofStripe({ ...intent, live: null }), undefined)
  assert.equal(ofStripe({ ...intent, merchantAccount: 'acct_1' }), undefined)
  assert.equal(ofStripe({ checkoutReference: 'cs_1' }), undefined)
  assert.equal(ofStripe({ providerReference: 're_1', type: 'refund' }), undefined)
  assert.equal(ofPaddle({ checkoutReference: 'txn_1', live: null }), undefined)
  assert.equal(ofPaddle({ providerReference: 'txn_1' }), undefined)
  for (const { name } of builtin) assert.equal(urlOf({ gateway: name, live: true }), undefined)
  assert.equal(urlOf({ gateway: 'gone', ...intent }), undefined)
})

test('no reference leads out of the dashboard, or to another page of it', () => {
  for (const rest of [
    '',
    '/../../settings',
    '..%2fsettings',
    '?next=//evil.example',
    '#top',
    '@evil.example',
    '" onmouseover="alert(1)',
    '<script>',
    '\n',
    '\u202e',
    ' ',
    'é',
    'x'.repeat(300),
  ]) {
    for (const prefix of ['', 'pi_', 'in_', 'txn_']) {
      const id = prefix + rest
      if (/^\w+_$/.test(id)) continue
      assert.equal(ofStripe({ providerReference: id }), undefined, id)
      assert.equal(ofPaddle({ checkoutReference: id }), undefined, id)
    }
  }
})

test('what a gateway of one’s own says counts if it is a page over TLS', () => {
  const saying = (text: string | undefined): Gateway => ({ ...paddle, dashboardUrl: () => text })
  const found = (text: string | undefined) =>
    dashboardUrlOf(createRegistry([saying(text)], {}), pendingPayment({ gateway: 'paddle' }))
  assert.equal(found('https://acme.example/p/1'), 'https://acme.example/p/1')
  assert.equal(found('https://acme.example/"x'), 'https://acme.example/%22x')
  for (const text of [
    'http://acme.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    '/p/1',
    '',
    'no address',
    undefined,
  ]) {
    assert.equal(found(text), undefined, String(text))
  }
})

test('a gateway of somebody’s own that throws knows no dashboard', () => {
  const dashboardUrl = () => {
    throw new Error('no such payment')
  }
  const own: Gateway = { ...paddle, dashboardUrl }
  const payment = pendingPayment({ gateway: 'paddle' })
  assert.equal(dashboardUrlOf(createRegistry([own], {}), payment), undefined)
})
