import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startStandIn } from '../../../test/support/stand-in.ts'
import type { Outcome } from '../../payments/outcome.ts'
import type { Payment } from '../../payments/payment.ts'
import {
  key,
  merchant,
  otherPaymentId,
  outcomesOf,
  paidOrder,
  paymentId,
  signed,
  type Parameters,
} from '../../../test/gateways/hutko/callbacks.ts'
import {
  endedOnceAsked,
  failureText,
  paymentOf,
  startOperations,
} from '../../../test/gateways/hutko/operations.ts'

const bound = { payment: { id: paymentId }, merchantAccount: merchant }
const money = { amount: 4999n, currency: 'UAH' }
const charge = (status: string, providerReference: string) => ({
  type: 'payment',
  status,
  providerReference,
  ...bound,
  ...money,
})
const refund = (refundedTotal: bigint) => ({
  type: 'refund',
  status: 'paid',
  refundedTotal,
  currency: 'UAH',
  ...bound,
})
/** A reversal that was taken on may be in no sum for a day. */
const listed = { listsRefunds: true, refundsLag: 86_400_000 }
const nothing = (detail: string) => ({ type: 'ignored', reason: 'no_outcome', detail })

test('an order is asked about once, by the id of our payment', async (t) => {
  const { poll, provider, sent } = await startOperations(t)
  await poll()
  assert.equal(provider.asked.length, 1)
  assert.equal(provider.asked[0]?.request.target, '/api/status/order_id')
  assert.deepEqual(sent(), [
    {
      order_id: paymentId,
      merchant_id: merchant,
      version: '1.0.1',
      // Made with OpenSSL.
      signature: '501019c183d85c1c6be19f3212242a38dca68656',
    },
  ])
})

test('each state of an order says what became of the payment, and what still may', async (t) => {
  const { checkout, poll, provider } = await startOperations(t)
  assert.deepEqual(await poll(), {
    outcomes: [nothing('error_code 1018')],
    standing: 'absent',
    listsRefunds: false,
  })
  await checkout()
  assert.deepEqual(await poll(), {
    outcomes: [nothing('purchase created')],
    standing: 'open',
    ...listed,
  })
  provider.decline(paymentId)
  assert.deepEqual(await poll(), {
    outcomes: [{ ...charge('failed', '805230052'), declineCode: '1004' }],
    standing: 'open',
    ...listed,
  })
  provider.pay(paymentId)
  const paid = charge('paid', '805230053')
  assert.deepEqual(await poll(), { outcomes: [paid], standing: 'paid', ...listed })
  provider.refundByHand(paymentId, 1000n)
  assert.deepEqual((await poll()).outcomes, [paid, refund(1000n)])
  provider.refundByHand(paymentId, 3999n)
  assert.deepEqual(await poll(), {
    outcomes: [paid, refund(4999n)],
    standing: 'paid',
    ...listed,
  })
})

test('a checkout whose time is over is canceled, and may be paid all the same', async (t) => {
  const { checkout, poll, provider } = await startOperations(t)
  await checkout()
  provider.expire(paymentId)
  assert.deepEqual(await poll(), {
    outcomes: [charge('canceled', '805230052')],
    standing: 'unpaid',
    ...listed,
  })
  provider.pay(paymentId)
  assert.deepEqual((await poll()).outcomes, [charge('paid', '805230052')])
})

test('poll and callbacks say the same, but for the code of a decline; also that a reversed order was paid before', async (t) => {
  const { checkout, poll, provider } = await startOperations(t)
  await checkout({ saveCard: true })
  const steps: readonly (() => void)[] = [
    () => undefined,
    () => provider.decline(paymentId),
    () => provider.pay(paymentId),
    () => provider.refundByHand(paymentId, 1n),
    () => provider.refundByHand(paymentId, 4998n),
  ]
  for (const step of steps) {
    step()
    const { outcomes } = await poll()
    assert.deepEqual(told(outcomes), told(outcomesOf(provider.paymentCallback(paymentId).body)))
  }
  const { outcomes } = await poll()
  const types = outcomes.map(({ type }) => type)
  assert.deepEqual(types, ['payment', 'payment_method', 'refund'])
  assert.deepEqual(outcomes.at(-1), refund(4999n))
})

/** A token shows itself to nobody; a callback does not say the code of a decline. */
function told(outcomes: readonly Outcome[]): readonly object[] {
  return outcomes.map((outcome) => ({ ...outcome, token: undefined, declineCode: undefined }))
}

/** What is said of an order that the API answers with, whatever the real one would. */
async function startReplies(t: TestContext) {
  let reply: unknown
  const standIn = await startStandIn(() => ({ body: reply }))
  t.after(standIn.close)
  const { poll, contextOf } = await startOperations(t)
  const { credentials } = contextOf()
  const settings = { ...credentials.settings, api_base: standIn.base }
  return async (body: unknown, payment: Partial<Payment> = {}) => {
    reply = body
    return poll(payment, { credentials: { ...credentials, settings } })
  }
}

const orderOf = (change: Parameters) => ({ response: signed({ ...paidOrder, ...change }) })

test('what may still become of it follows from status, operation and capture', async (t) => {
  const pollReply = await startReplies(t)
  const hold = { additional_info: '{"capture_status":"hold"}' }
  const reverse = { tran_type: 'reverse' }
  const cases: readonly (readonly [Parameters, standing: string, listsRefunds: boolean])[] = [
    [{ order_status: 'processing' }, 'undecided', true],
    [{ order_status: 'something_new' }, 'unclear', true],
    [{ order_status: 'approved' }, 'paid', true],
    [hold, 'undecided', true],
    [{ ...hold, order_status: 'reversed', reversal_amount: '4999' }, 'unpaid', false],
    [{ ...hold, order_status: 'reversed', reversal_amount: '100' }, 'unclear', false],
    [{ additional_info: '{"capture_status":"something_new"}' }, 'unclear', true],
    [{ tran_type: 'verification' }, 'unclear', false],
    [{ tran_type: 'something_new' }, 'unclear', false],
    [{ ...reverse, order_status: 'approved', reversal_amount: '100' }, 'paid', true],
    // A reversal that is under way, or was declined: the order was paid before.
    [{ ...reverse, order_status: 'processing' }, 'undecided', false],
    [{ ...reverse, order_status: 'declined', reversal_amount: '100' }, 'unclear', false],
    [{ ...reverse, order_status: 'expired' }, 'unclear', false],
  ]
  for (const [change, standing, listsRefunds] of cases) {
    const reply = await pollReply(orderOf(change))
    assert.deepEqual([reply.standing, reply.listsRefunds], [standing, listsRefunds])
  }
})

test('blocked money that was released is canceled, not paid and refunded', async (t) => {
  const pollReply = await startReplies(t)
  const hold = { additional_info: '{"capture_status":"hold"}' }
  const released = orderOf({ ...hold, order_status: 'reversed', reversal_amount: '4999' })
  assert.deepEqual((await pollReply(released)).outcomes, [
    { ...charge('canceled', '917204418'), ifPaid: 'review' },
  ])
})

test('a declined order can be paid until its checkout ends, a declined card never', async (t) => {
  const pollReply = await startReplies(t)
  const declined = orderOf({ order_status: 'declined' })
  const cases: readonly (readonly [Partial<Payment>, string])[] = [
    [{ expiresAt: null }, 'open'],
    [{ expiresAt: new Date('2026-11-20T12:00:01Z') }, 'open'],
    [{ expiresAt: new Date('2026-11-20T12:00:00Z') }, 'unpaid'],
    [{ expiresAt: null, paymentMethodId: otherPaymentId }, 'unpaid'],
  ]
  for (const [payment, expected] of cases) {
    assert.equal((await pollReply(declined, payment)).standing, expected)
  }
  const created = orderOf({ order_status: 'created' })
  const charged = await pollReply(created, { paymentMethodId: otherPaymentId })
  assert.equal(charged.standing, 'undecided')
})

test('of an order that nobody tried to pay, the status is enough', async (t) => {
  const pollReply = await startReplies(t)
  const blank = { payment_id: '', tran_type: '', masked_card: '', reversal_amount: '' }
  const cases: readonly (readonly [string, standing: string])[] = [
    ['created', 'open'],
    ['expired', 'unpaid'],
  ]
  for (const [order_status, standing] of cases) {
    assert.deepEqual(await pollReply(orderOf({ ...blank, order_status })), {
      outcomes: [nothing(`order_status ${order_status}`)],
      standing,
      listsRefunds: false,
    })
  }
  for (const order_status of ['approved', 'declined', 'processing', 'reversed']) {
    const failure = await failureText(pollReply(orderOf({ ...blank, order_status })))
    assert.equal(failure, 'provider_reply_invalid', order_status)
  }
})

test('a reply that is not signed, or about another order, says nothing', async (t) => {
  const pollReply = await startReplies(t)
  const replies: readonly unknown[] = [
    { response: paidOrder },
    { response: signed(paidOrder, '2nd_payment_key_0123') },
    { response: { ...signed(paidOrder), order_status: 'declined' } },
    { response: [signed(paidOrder)] },
    orderOf({ order_id: otherPaymentId }),
    orderOf({ merchant_id: 4815163 }),
    orderOf({ parent_order_id: otherPaymentId }),
    orderOf({ order_status: 'created', order_id: otherPaymentId }),
    orderOf({ additional_info: 'none' }),
    orderOf({ payment_id: 'abc' }),
    signed(paidOrder),
    { response: {} },
    {},
    null,
  ]
  for (const reply of replies) {
    const failure = await failureText(pollReply(reply))
    assert.equal(failure, 'provider_reply_invalid', JSON.stringify(reply))
  }
  assert.equal((await pollReply(orderOf({}))).standing, 'paid')
  assert.equal((await pollReply(orderOf({ parent_order_id: paymentId }))).standing, 'paid')
})

test('free texts in a reply, whatever stands in them, keep nobody from reading it', async (t) => {
  const pollReply = await startReplies(t)
  const texts = [
    'a|success|0',
    'Замовлення 7\nдві речі',
    '\u0001',
    '{"a":"b|c"}',
    'approved',
    '7|UAH',
  ]
  for (const text of texts) {
    for (const name of ['merchant_data', 'order_desc', 'response_description', 'sender_email']) {
      const reply = await pollReply(orderOf({ [name]: text }))
      assert.deepEqual(reply.outcomes, outcomesOf(JSON.stringify(paidOrder)), name)
      assert.equal(reply.standing, 'paid')
    }
  }
})

test('an order that the provider has named before is never called absent', async (t) => {
  const { poll } = await startOperations(t)
  const failure = await failureText(poll({ providerReference: '805230052' }))
  assert.equal(failure, 'provider_refused 1018')
})

test('an error is no state of the order', async (t) => {
  const { checkout, poll, provider } = await startOperations(t)
  await checkout()
  provider.misbehave('poll', 'down', 'cut', 'never')
  assert.equal(await failureText(poll()), 'provider_unreachable')
  assert.equal(await failureText(poll()), 'provider_unreachable')
  const given = { signal: endedOnceAsked(provider) }
  assert.equal(await failureText(poll({}, given)), 'AbortError')
  assert.equal((await poll()).standing, 'open')
})

test('while the key is replaced, the one that the provider knows is found', async (t) => {
  const { checkout, poll, provider } = await startOperations(t)
  await checkout()
  const first = await poll({}, { keys: `2nd_payment_key_0123,a_third_payment_key_1,${key}` })
  assert.equal(first.standing, 'open')
  assert.equal(provider.asked.length, 4)
  const keys = '2nd_payment_key_0123,a_third_payment_key_1'
  assert.equal(await failureText(poll({}, { keys })), 'provider_refused 1014')
  const fault = '/api/status/order_id: signature is of another key'
  assert.deepEqual(provider.takeFaults(), [fault, fault, fault, fault])
})

test('nobody is asked about the order of another merchant', async (t) => {
  const { poll, provider } = await startOperations(t)
  const failure = await failureText(poll({ merchantAccount: '1234567' }))
  assert.equal(failure, 'gateway_not_configured')
  assert.deepEqual(provider.asked, [])
  assert.equal((await poll(paymentOf({ merchantAccount: null }))).standing, 'absent')
})
