import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startStandIn } from '../../../test/support/stand-in.ts'
import {
  merchant,
  otherPaymentId,
  outcomesOf,
  paidOrder,
  paymentId,
  signed,
} from '../../../test/gateways/hutko/callbacks.ts'
import {
  failureText,
  startOperations,
  tokenPayment,
} from '../../../test/gateways/hutko/operations.ts'

/** A card that was saved with a payment. */
async function startSaved(t: TestContext) {
  const operations = await startOperations(t)
  const { checkout, provider } = operations
  await checkout({ saveCard: true })
  provider.pay(paymentId)
  const paid = outcomesOf(provider.paymentCallback(paymentId).body)
  const card = paid.find((outcome) => outcome.type === 'payment_method')
  const token = card?.token?.reveal() ?? assert.fail('no card was saved')
  const charged = () => provider.asked.filter(({ asking }) => asking === 'charge').length
  return { ...operations, token, charged }
}

const charge = (status: string) => ({
  type: 'payment',
  status,
  payment: { id: otherPaymentId },
  providerReference: '805230053',
  merchantAccount: merchant,
  amount: 4999n,
  currency: 'UAH',
})

test('a saved card is charged by its token with one request', async (t) => {
  const { charge: chargeCard, provider, sent, token, charged } = await startSaved(t)
  const { outcomes, ...more } = await chargeCard(token)
  assert.deepEqual(outcomes[0], charge('paid'))
  assert.deepEqual(
    outcomes.map(({ type }) => type),
    ['payment', 'payment_method'],
  )
  assert.deepEqual(more, {})
  assert.equal(charged(), 1)
  assert.equal(provider.asked.at(-1)?.request.target, '/api/recurring')
  const { signature, ...parameters } = sent().at(-1) ?? {}
  assert.match(signature ?? '', /^[0-9a-f]{40}$/)
  assert.deepEqual(parameters, {
    order_id: otherPaymentId,
    order_desc: `Payment ${otherPaymentId.slice(-8)}`,
    amount: '4999',
    currency: 'UAH',
    rectoken: token,
    server_callback_url: 'https://shop.example/billing/webhooks/hutko',
    merchant_id: merchant,
    version: '1.0.1',
  })
  assert.equal(provider.charges(otherPaymentId), 1)
})

test('a card that is declined fails the payment for good', async (t) => {
  const { charge: chargeCard, poll, provider, token } = await startSaved(t)
  provider.habits.declinesTokens = true
  assert.deepEqual((await chargeCard(token)).outcomes[0], {
    ...charge('failed'),
    declineCode: '1004',
  })
  assert.equal((await poll(tokenPayment)).standing, 'unpaid')
  assert.equal(provider.charges(otherPaymentId), 0)
})

test('a second charge under the same id leaves open what became of it', async (t) => {
  const { charge: chargeCard, provider, token } = await startSaved(t)
  await chargeCard(token)
  assert.equal(await failureText(chargeCard(token)), 'provider_unreachable 1013')
  assert.deepEqual(provider.takeFaults(), [`the order ${otherPaymentId} is made twice`])
  assert.equal(provider.charges(otherPaymentId), 1)
})

test('a card without its token cannot be charged, an unknown one is refused', async (t) => {
  const { charge: chargeCard, charged } = await startSaved(t)
  assert.equal(await failureText(chargeCard(null)), 'gateway_not_configured')
  assert.equal(charged(), 0)
  assert.equal(await failureText(chargeCard('x'.repeat(40))), 'provider_refused 1035')
})

test('an order in progress decides nothing, and neither does one that is not ours', async (t) => {
  const orderOf = (change: object) => signed({ ...paidOrder, order_id: otherPaymentId, ...change })
  const cases: readonly (readonly [object, string])[] = [
    [orderOf({}), 'payment'],
    [orderOf({ order_status: 'processing' }), 'no_outcome'],
    [orderOf({ order_id: paymentId }), 'provider_reply_invalid'],
    [orderOf({ payment_id: '' }), 'provider_reply_invalid'],
    [orderOf({ sender_email: 'a|b' }), 'payment'],
    [orderOf({ order_status: 'created', payment_id: '' }), 'provider_reply_invalid'],
    [{ ...paidOrder, order_id: otherPaymentId }, 'provider_reply_invalid'],
    [{ response_status: 'failure', error_code: 1004 }, 'provider_unreachable 1004'],
    [{ response_status: 'failure', error_code: 1082 }, 'provider_refused 1082'],
  ]
  let response: object = {}
  const standIn = await startStandIn(() => ({ body: { response } }))
  t.after(standIn.close)
  const { charge: chargeCard, contextOf } = await startOperations(t)
  const { credentials } = contextOf()
  const settings = { ...credentials.settings, api_base: standIn.base }
  for (const [reply, expected] of cases) {
    response = reply
    const made = chargeCard('x'.repeat(40), { credentials: { ...credentials, settings } })
    const result = await made.then(
      ({ outcomes: [first] }) => (first?.type === 'ignored' ? first.reason : first?.type),
      () => failureText(made),
    )
    assert.equal(result, expected, JSON.stringify(reply))
  }
})
