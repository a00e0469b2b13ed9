import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paymentId, publicKey } from '../../../test/gateways/liqpay/callbacks.ts'
import {
  answering,
  contextOf,
  paymentOf,
  postForm,
  refundOf,
  sentTexts,
} from '../../../test/gateways/liqpay/operations.ts'
import { thrownBy, failureOf } from '../../../test/providers/kit.ts'
import { startLiqpay } from '../../../test/providers/liqpay.ts'
import { awaitsDecision } from './statuses.ts'
import { refundLiqpay } from './refund.ts'

const charge = paymentOf({ status: 'paid', providerReference: '7310094425' })

const refund = (
  standIn: Parameters<typeof contextOf>[0],
  amount: bigint,
  fields: Parameters<typeof contextOf>[1] = {},
) => refundLiqpay(refundOf(amount, { payment: charge }), contextOf(standIn, fields))

async function paidOrder() {
  const standIn = await startLiqpay()
  await postForm(standIn)
  standIn.pay(paymentId)
  return standIn
}

/** LiqPay answering this to a refund. */
async function refundAnswered(reply: unknown, payment = charge) {
  await using standIn = await answering(reply)
  return await refundLiqpay(refundOf(100n, { payment }), contextOf(standIn))
}

const replyOf = (fields: object = {}) => ({
  result: 'ok',
  action: 'refund',
  payment_id: 7310094425,
  status: 'reversed',
  ...fields,
})
const errorOf = (code?: string | number) => ({ result: 'error', status: 'error', err_code: code })

const sumsOf = (standIn: Awaited<ReturnType<typeof paidOrder>>) =>
  standIn.refunds(paymentId).map(({ amount, status }) => [amount, status])
const refundRequests = (standIn: Awaited<ReturnType<typeof paidOrder>>) =>
  standIn.asked.filter(({ asking }) => asking === 'refund')

test('a part and the rest go back, and more than that is refused', async () => {
  await using standIn = await paidOrder()
  assert.deepEqual(await refund(standIn, 4235n), { status: 'paid' })
  const tooMuch = await failureOf(refund(standIn, 80001n))
  assert.deepEqual([tooMuch.code, tooMuch.providerCode], ['provider_refused', 'err_amount_hold'])
  assert.deepEqual(await refund(standIn, 80000n), { status: 'paid' })
  const nothingLeft = await failureOf(refund(standIn, 1n))
  assert.equal(nothingLeft.providerCode, 'payment_err_status')
  assert.deepEqual(sumsOf(standIn), [
    [4235n, 'paid'],
    [80000n, 'paid'],
  ])
  const start = `{"version":3,"public_key":"${publicKey}","action":"refund","order_id":"${paymentId}"`
  assert.deepEqual(
    sentTexts(refundRequests(standIn)),
    ['42.35', '800.01', '800', '0.01'].map((amount) => `${start},"amount":${amount}}`),
  )
})

test('a refund that waits for the shop’s money is pending', async () => {
  await using standIn = await paidOrder()
  standIn.isShort = true
  assert.deepEqual(await refund(standIn, 100n), { status: 'pending' })
  assert.deepEqual(sumsOf(standIn), [[100n, 'pending']])
  for (const status of awaitsDecision) {
    assert.deepEqual(await refundAnswered(replyOf({ status })), { status: 'pending' }, status)
  }
  const waiting = replyOf({ status: 'reversed', wait_amount: true })
  assert.deepEqual(await refundAnswered(waiting), { status: 'pending' })
})

test('both words for a refund that is done count, and blanks behind them do not', async () => {
  for (const status of ['reversed', 'success', 'reversed ']) {
    assert.deepEqual(await refundAnswered(replyOf({ status })), { status: 'paid' })
  }
})

test('a reply that may be about another payment decides nothing', async () => {
  const another = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e02'
  for (const fields of [{ payment_id: 7310094426 }, { order_id: another }, { order_id: 7 }]) {
    const { code, message } = await thrownBy(refundAnswered(replyOf(fields)))
    assert.equal(code, 'provider_reply_invalid')
    assert.equal(message, 'LiqPay answered refund: another payment')
  }
  const unnamed = [
    [replyOf({ payment_id: null }), charge],
    [replyOf({ payment_id: '7310094425', order_id: paymentId }), charge],
    [replyOf({ payment_id: 1 }), paymentOf({ providerReference: null })],
  ] as const
  for (const [reply, payment] of unnamed) {
    assert.deepEqual(await refundAnswered(reply, payment), { status: 'paid' })
  }
})

test('an error refuses only where its code says that nothing was done', async () => {
  const refusing = ['payment_not_found', 'shop_blocked', 'err_access', 'limit', 'decline']
  for (const code of refusing) {
    const thrown = await thrownBy(refundAnswered(errorOf(code)))
    assert.deepEqual(
      [thrown.code, thrown.message, thrown.providerCode],
      ['provider_refused', `LiqPay answered refund with the error ${code}`, code],
    )
  }
  const failure = replyOf({ status: 'failure', err_code: 'limit' })
  assert.equal((await failureOf(refundAnswered(failure))).code, 'provider_refused')
  for (const code of ['payment_processing', 'err_cache', 'wait_info', '', 90, 'new', undefined]) {
    const { code: ours, providerCode } = await failureOf(refundAnswered(errorOf(code)))
    assert.deepEqual([ours, providerCode], ['provider_reply_invalid', undefined], String(code))
  }
})

test('a reply that cannot be understood decides nothing', async () => {
  const replies = [
    [],
    null,
    {},
    replyOf({ status: 'something_new' }),
    replyOf({ status: undefined }),
    replyOf({ status: 7 }),
    replyOf({ result: 'error' }),
    replyOf({ status: '3ds_verify' }),
  ]
  for (const reply of replies) {
    const { code } = await failureOf(refundAnswered(reply))
    assert.equal(code, 'provider_reply_invalid', JSON.stringify(reply))
  }
})
