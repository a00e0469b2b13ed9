import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { refundId } from '../../../test/providers/kit.ts'
import { startStandIn } from '../../../test/support/stand-in.ts'
import {
  merchant,
  otherPaymentId,
  paymentId,
  signed,
} from '../../../test/gateways/hutko/callbacks.ts'
import { failureText, startOperations } from '../../../test/gateways/hutko/operations.ts'

async function startPaid(t: TestContext) {
  const operations = await startOperations(t)
  await operations.checkout()
  operations.provider.pay(paymentId)
  const { provider, refund } = operations
  const reversals = () => provider.asked.filter(({ asking }) => asking === 'refund').length
  /** Another refund row. */
  const refundAs = (id: string, amount: bigint) => refund(amount, { refundId: id })
  return { ...operations, reversals, refundAs }
}

const secondId = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e31'

test('a refund is asked for once, with the id of its row', async (t) => {
  const { refund, provider, sent, reversals } = await startPaid(t)
  const reason = 'Повернення | товару\n'
  assert.deepEqual(await refund(1000n, { reason, refundId: otherPaymentId }), { status: 'paid' })
  assert.equal(reversals(), 1)
  assert.equal(provider.asked.at(-1)?.request.target, '/api/reverse/order_id')
  assert.deepEqual(sent().at(-1), {
    order_id: paymentId,
    amount: '1000',
    currency: 'UAH',
    comment: 'Повернення / товару',
    reverse_id: otherPaymentId,
    merchant_id: merchant,
    version: '1.0.1',
    // Made with OpenSSL.
    signature: '8ed2a96ab07de0ff9ed0010808d1c043852b372c',
  })
  assert.deepEqual(provider.refunds(paymentId), [{ amount: 1000n, status: 'paid' }])
})

test('a refund without a reason has no comment', async (t) => {
  const { refund, sent } = await startPaid(t)
  await refund(4999n)
  assert.equal(sent().at(-1)?.['comment'], undefined)
})

test('a refund that the provider does later is pending until the order tells of it', async (t) => {
  const { refund, provider, poll } = await startPaid(t)
  provider.habits.slowRefunds = true
  assert.deepEqual(await refund(4999n), { status: 'pending' })
  const kinds = async () => (await poll()).outcomes.map(({ type }) => type)
  assert.deepEqual(await kinds(), ['payment'])
  provider.completeRefunds(paymentId)
  assert.deepEqual(await kinds(), ['payment', 'refund'])
})

test('a refund that is declined has failed, with the code of it', async (t) => {
  const { checkout, refund, provider } = await startOperations(t)
  await checkout()
  assert.deepEqual(await refund(1000n), { status: 'failed', code: '1065' })
  assert.deepEqual(provider.refunds(paymentId), [{ amount: 1000n, status: 'failed' }])
})

test('more than is left is refused', async (t) => {
  const { refundAs, provider } = await startPaid(t)
  assert.deepEqual(await refundAs(secondId, 4000n), { status: 'paid' })
  assert.equal(await failureText(refundAs(otherPaymentId, 1000n)), 'provider_refused 1007')
  assert.deepEqual(await refundAs(otherPaymentId, 999n), { status: 'paid' })
  assert.deepEqual(
    provider.refunds(paymentId).map(({ amount }) => amount),
    [4000n, 999n],
  )
})

test('a reply counts only where it is signed, and about this refund', async (t) => {
  const done = {
    reverse_status: 'approved',
    order_id: paymentId,
    response_description: '',
    response_code: '',
    merchant_id: 4815162,
    response_status: 'success',
    reverse_id: refundId,
    reversal_amount: '1000',
    transaction_id: '2011273408',
  }
  const { reverse_status: _, ...unspelled } = done
  const invalid = 'provider_reply_invalid'
  const failed = { ...done, response_status: 'failure' }
  const cases: readonly (readonly [object, string])[] = [
    [signed(done), 'paid'],
    [signed({ ...done, reverse_id: '' }), 'paid'],
    [signed({ ...unspelled, revers_status: 'created' }), 'pending'],
    [signed({ ...done, reverse_status: 'declined' }), 'failed'],
    [signed({ ...done, reverse_status: 'something_new' }), invalid],
    [signed(unspelled), invalid],
    [signed({ ...done, reverse_id: paymentId }), invalid],
    [signed({ ...done, order_id: otherPaymentId }), invalid],
    [signed({ ...done, merchant_id: 4815163 }), invalid],
    [signed({ ...done, response_description: 'a|b\nc' }), 'paid'],
    [signed(done, '2nd_payment_key_0123'), invalid],
    [done, invalid],
    [signed({ ...failed, response_code: '1002' }), 'provider_unreachable 1002'],
    [{ ...failed, error_code: 1000 }, 'provider_unreachable 1000'],
    [{ ...failed, error_code: 1013 }, 'provider_unreachable 1013'],
    [{ ...failed, error_code: 1018 }, 'provider_refused 1018'],
    [{ ...failed, error_code: 1084 }, 'provider_refused 1084'],
    [{ ...failed, error_code: 1100 }, 'provider_refused 1100'],
  ]
  let response: object = {}
  const standIn = await startStandIn(() => ({ body: { response } }))
  t.after(standIn.close)
  const { refund, contextOf } = await startOperations(t)
  const { credentials } = contextOf()
  const settings = { ...credentials.settings, api_base: standIn.base }
  for (const [reply, expected] of cases) {
    response = reply
    const made = refund(1000n, {}, { credentials: { ...credentials, settings } })
    const result = await made.then(
      ({ status }) => status,
      () => failureText(made),
    )
    assert.equal(result, expected, JSON.stringify(reply))
  }
  assert.equal(standIn.requests.length, cases.length)
})
