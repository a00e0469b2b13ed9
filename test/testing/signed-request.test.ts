import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Stripe from 'stripe'
import { signedRequest } from '../../src/testing/index.ts'
import { acme, silent, withOthers } from './signed-gateway.ts'

const signing_secret = 'whsec_of_an_app_that_tests_itself'
const payment = { id: '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01', amount: 4999n, currency: 'USD' }
const options = { gateways: { stripe: { signing_secret } } }

describe('signedRequest', () => {
  test('is a POST to the callback URL of the app, whatever name the gateway is called by', () => {
    for (const name of ['stripe', 'alpha']) {
      const { url, method } = signedRequest(name, {
        payment,
        options: { ...options, url: 'https://pay.example.com', webhook: { path: '/in/{gateway}' } },
      })
      assert.deepEqual([method, url], ['POST', 'https://pay.example.com/in/stripe'])
    }
  })

  test('carries a body and a signature that the provider’s own package accepts', async () => {
    const request = signedRequest('stripe', { payment, scenario: 'expired', options })
    const header = request.headers.get('stripe-signature') ?? ''
    const event = Stripe.webhooks.constructEvent(await request.text(), header, signing_secret)
    assert.equal(event.type, 'checkout.session.expired')
    assert.match(request.headers.get('content-type') ?? '', /^application\/json/)
  })

  test('takes the first scenario by default, and is another callback each time', async () => {
    const read = async () => {
      const request = signedRequest('stripe', { payment, options })
      return (await request.json()) as { readonly id: string; readonly type: string }
    }
    const [one, two] = [await read(), await read()]
    assert.equal(one.type, 'checkout.session.completed')
    assert.notEqual(one.id, two.id)
  })

  test('is signed at the time that is asked for', () => {
    const signedAt = new Date('2026-11-20T12:00:00Z')
    const { headers } = signedRequest('stripe', { payment, options, signedAt })
    assert.match(headers.get('stripe-signature') ?? '', /^t=1795176000,/)
  })

  test('works for a gateway of one’s own', () => {
    const gateways = { acme: { signing_secret, test_mode: 'on' } }
    const request = signedRequest('acme-pay', { payment, options: { ...withOthers, gateways } })
    assert.equal(request.url, `http://localhost:3000/billing/webhooks/${acme.name}`)
  })
})

for (const [what, gateway, scenario, code, message] of [
  ['a gateway that is not registered', 'acmee', 'paid', 'gateway_unknown', /"acmee".*fake, stripe/],
  ['one that cannot sign', silent.name, 'paid', 'gateway_cannot_sign', /silent cannot sign/],
  ['a scenario that it lacks', 'stripe', 'lottery', 'usage', /"lottery"; it has paid, /],
  ['one without its secret', 'acme', 'paid', 'gateway_not_configured', /signing_secret \(ACME_S/],
] as const) {
  test(`signedRequest: ${what} is refused with ${code}`, () => {
    const ask = () =>
      signedRequest(gateway, { payment, scenario, options: { ...withOthers, ...options } })
    assert.throws(ask, { code, message })
  })
}
