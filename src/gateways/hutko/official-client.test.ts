import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { judgementOf } from '../../../test/support/judgement-of.ts'
import {
  key,
  merchant,
  otherPaymentId,
  outcomesOf,
  paymentId,
} from '../../../test/gateways/hutko/callbacks.ts'
import { startOperations } from '../../../test/gateways/hutko/operations.ts'

type Fields = Readonly<Record<string, string>>

/** The official client; it comes without types. */
interface Client {
  Checkout(parameters: Fields): Promise<Fields>
  Status(parameters: Fields): Promise<Fields>
  Reverse(parameters: Fields): Promise<Fields>
  Recurring(parameters: Fields): Promise<Fields>
  isValidResponse(reply: Fields): boolean
}
type ClientClass = new (options: object) => Client

interface Sending {
  readonly path: string
  readonly body: string
}

const target = { base: '' }
const require = createRequire(import.meta.url)
const requester = require.resolve('cloudipsp-node-js-sdk/lib/requester.js')
require(requester)
const module = require.cache[requester] ?? assert.fail('the client sends in another way now')
module.exports = async ({ path, body }: Sending) => {
  const headers = { 'content-type': 'application/json' }
  return (await fetch(`${target.base}${path}`, { method: 'POST', headers, body })).text()
}
const Official = require('cloudipsp-node-js-sdk') as ClientClass

/** The client as it is, but for its way to port 443. */
function clientTo(base: string): Client {
  target.base = base
  return new Official({ merchantId: merchant, secretKey: key, protocol: '1.0' })
}

const version = '1.0.1'
const order = {
  version,
  order_desc: 'Test order',
  currency: 'UAH',
  amount: '4999',
  server_callback_url: 'https://shop.example/billing/webhooks/hutko',
}

test('the official client works with the provider that our requests are tested by', async (t) => {
  const { provider } = await startOperations(t)
  const client = clientTo(provider.config['api_base'] ?? '')
  const { checkout_url } = await client.Checkout({
    ...order,
    order_id: paymentId,
    response_url: 'https://shop.example/billing/return/1',
    lifetime: '3600',
    required_rectoken: 'Y',
  })
  assert.match(checkout_url ?? '', /^https:\/\//)
  provider.pay(paymentId)
  const paid = await client.Status({ version, order_id: paymentId })
  assert.equal(paid['order_status'], 'approved')
  const charge = { ...order, order_id: otherPaymentId, rectoken: paid['rectoken'] ?? '' }
  const charged = await client.Recurring(charge)
  assert.equal(charged['order_status'], 'approved')
  const refund = { version, order_id: paymentId, amount: '1000', currency: 'UAH' }
  const reversed = await client.Reverse({ ...refund, reverse_id: otherPaymentId })
  assert.equal(reversed['reverse_status'], 'approved')
  for (const reply of [paid, charged, reversed]) assert.ok(client.isValidResponse(reply))
  await assert.rejects(client.Status({ version, order_id: 'unknown' }), /error_code: 1018/)
})

test('its callbacks are taken, and tell what its API tells', async (t) => {
  const { checkout, poll, provider, contextOf } = await startOperations(t)
  await checkout()
  provider.pay(paymentId)
  provider.refundByHand(paymentId, 1000n)
  const { outcomes } = await poll()
  for (const callback of [provider.paymentCallback, provider.refundCallback]) {
    const { body } = callback(paymentId)
    const request = { headers: {}, body: Buffer.from(body) }
    const verdict = provider.gateway.verify(request, contextOf().credentials, new Date())
    assert.deepEqual(judgementOf(verdict), { valid: true })
    assert.deepEqual(outcomesOf(body), outcomes)
  }
})

test('the provider notices what is not as documented', async (t) => {
  const { provider } = await startOperations(t)
  const base = provider.config['api_base'] ?? ''
  const client = clientTo(base)
  const post = (path: string, request: object) =>
    fetch(`${base}${path}`, { method: 'POST', body: JSON.stringify(request) })
  await assert.rejects(client.Checkout({ ...order, order_id: paymentId }), /1007/)
  await assert.rejects(client.Status({ order_id: paymentId, version, more: '1' }), /1007/)
  await assert.rejects(client.Status({ order_id: 'a|b', version }), /1007/)
  await post('/api/status/order_id', { request: { order_id: paymentId } })
  await post('/api/p2pcredit', {})
  assert.deepEqual(provider.takeFaults(), [
    '/api/checkout/url/: response_url is missing',
    '/api/status/order_id/: more is no parameter',
    '/api/status/order_id/: order_id is a|b',
    '/api/status/order_id: it is not sent as JSON',
    'there is no POST /api/p2pcredit',
  ])
})
