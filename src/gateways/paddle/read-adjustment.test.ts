import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  adjustment,
  adjustmentId,
  assertIgnored,
  event,
  interpret,
  methodId,
  customerId,
  savedMethod,
  totals,
  transactionId,
  type Fields,
} from '../../../test/gateways/paddle/events.ts'

const created = (fields: Fields = {}) => interpret(event('adjustment.created', adjustment(fields)))
const updated = (fields: Fields = {}) => interpret(event('adjustment.updated', adjustment(fields)))

const refund = {
  type: 'refund',
  payment: { checkoutReference: transactionId },
  status: 'paid',
  refundReference: adjustmentId,
  amount: 1500n,
  currency: 'USD',
} as const
const dispute = {
  type: 'dispute',
  payment: { checkoutReference: transactionId },
  reference: adjustmentId,
  status: 'open',
  amount: 1500n,
  currency: 'USD',
} as const

test('a refund is reported with its own id, its amount and how far it has come', async () => {
  const statuses = [
    ['pending_approval', 'pending'],
    ['approved', 'paid'],
    ['rejected', 'failed'],
    ['reversed', 'failed'],
  ] as const
  for (const [status, ours] of statuses) {
    assert.deepEqual(await created({ status }), { ...refund, status: ours }, status)
    assert.deepEqual(await updated({ status }), { ...refund, status: ours }, status)
  }
})

test('a refund of an unknown status is no_outcome', async () => {
  for (const status of ['APPROVED', 'paid', 'toString', '']) {
    assertIgnored(await updated({ status }), 'no_outcome', `refund, status ${status}`)
  }
  for (const status of [undefined, null, 7]) {
    assertIgnored(await updated({ status }), 'no_outcome', 'refund, status missing')
  }
})

test('money of a refund that cannot be read is left out', async () => {
  const { amount: _, ...withoutAmount } = refund
  const { currency: __, ...withoutMoney } = withoutAmount
  for (const total of ['-1500', '15.00', 1500, null]) {
    assert.deepEqual(await created({ totals: totals({ total }) }), withoutAmount)
  }
  for (const none of [undefined, null, [], '1500']) {
    assert.deepEqual(await created({ totals: none, payout_totals: totals() }), withoutMoney)
  }
})

test('a chargeback opens a dispute, and what gives it back ends it', async () => {
  for (const action of ['chargeback', 'chargeback_warning']) {
    const taken = { ...dispute, kind: action }
    assert.deepEqual(await created({ action }), taken, action)
    assert.deepEqual(await updated({ action, status: 'reversed' }), { ...taken, status: 'won' })
    const rejected = await created({ action, status: 'rejected' })
    assertIgnored(rejected, 'no_outcome', `${action}, status rejected`)
  }
  for (const action of ['chargeback_reverse', 'chargeback_warning_reverse']) {
    const kind = action.replace(/_reverse$/, '')
    const ended = { ...dispute, kind, status: 'won', givesBack: true }
    assert.deepEqual(await created({ action }), ended, action)
    const reversed = await created({ action, status: 'reversed' })
    assertIgnored(reversed, 'no_outcome', `${action}, status reversed`)
  }
})

test('credits and unknown actions are unhandled_event', async () => {
  for (const action of ['credit', 'credit_reverse', 'REFUND', 'toString', '']) {
    const outcome = await created({ action })
    assertIgnored(outcome, 'unhandled_event', `adjustment.created, action ${action}`)
  }
})

test('an adjustment of another form is malformed_payload naming the field', async () => {
  for (const id of ['', 'adj_', 'txn_1', 'adj_a b', 7, null]) {
    assertIgnored(await created({ id }), 'malformed_payload', 'data.id')
  }
  for (const id of ['', 'txn_', 'adj_1', 'txn_a b', 7, null, undefined]) {
    const outcome = await created({ transaction_id: id })
    assertIgnored(outcome, 'malformed_payload', 'data.transaction_id')
  }
  for (const action of [undefined, null, 7, ['refund']]) {
    assertIgnored(await created({ action }), 'malformed_payload', 'data.action')
  }
  const none = await interpret(event('adjustment.created', null))
  assertIgnored(none, 'malformed_payload', 'data')
})

test('a saved and a removed card are told by their id, with what the event states', async () => {
  const stated = {
    type: 'payment_method',
    reference: methodId,
    customerReference: customerId,
    details: { kind: 'card' },
  }
  const saved = await interpret(event('payment_method.saved', savedMethod()))
  assert.deepEqual(saved, { ...stated, status: 'attached' })
  for (const reason of ['api', 'replaced_by_newer_version']) {
    const removed = event('payment_method.deleted', savedMethod({ deletion_reason: reason }))
    assert.deepEqual(await interpret(removed), { ...stated, status: 'detached' })
  }
})

test('a saved card of another form is malformed_payload naming the field', async () => {
  for (const type of ['payment_method.saved', 'payment_method.deleted']) {
    for (const id of ['paymtd_', 'ctm_1', 'paymtd_a/b', 7, null]) {
      const outcome = await interpret(event(type, savedMethod({ id })))
      assertIgnored(outcome, 'malformed_payload', 'data.id')
    }
    for (const id of ['ctm_', 'paymtd_1', 'ctm_../x', 7, null, undefined]) {
      const outcome = await interpret(event(type, savedMethod({ customer_id: id })))
      assertIgnored(outcome, 'malformed_payload', 'data.customer_id')
    }
  }
})

test('a kind of card that is no plain word is left out', async () => {
  for (const kind of ['', 'Card', 'a b', 'x'.repeat(41), 7, null, undefined]) {
    const outcome = await interpret(event('payment_method.saved', savedMethod({ type: kind })))
    assert.ok(outcome.type === 'payment_method')
    assert.deepEqual(outcome.details, {})
  }
  const longest = 'x'.repeat(40)
  const outcome = await interpret(event('payment_method.saved', savedMethod({ type: longest })))
  assert.ok(outcome.type === 'payment_method')
  assert.deepEqual(outcome.details, { kind: longest })
})
