import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingPayment } from '../../../test/support/pending-payment.ts'
import type { Payment } from '../../payments/payment.ts'
import { decide } from '../../payments/transition.ts'
import { invoiceId, paymentId, statedBy } from '../../../test/gateways/monobank/invoices.ts'

// The bank promises no order. Its rule, that the larger modifiedDate is the current one, needs no
// memory here: whatever order the reports of an invoice come in, the state table ends where the
// newest one ends, or stays on the side of the money that was taken.

const charge = pendingPayment({
  gateway: 'monobank',
  id: paymentId,
  amount: 15075n,
  currency: 'UAH',
  checkoutReference: invoiceId,
})

/** The status that a payment has after reports of these statuses, in this order. */
function statusAfter(reports: readonly string[]): Payment['status'] {
  let now: Payment['status'] = charge.status
  for (const [minute, status] of reports.entries()) {
    const modifiedDate = `2026-11-20T10:${String(minute + 10)}:00Z`
    for (const outcome of statedBy({ status, modifiedDate })) {
      if (outcome.type !== 'payment') continue
      const decision = decide({ ...charge, status: now }, 'monobank', outcome)
      if (decision.kind === 'move') now = outcome.status
    }
  }
  return now
}

function* permutations(items: readonly string[]): Generator<readonly string[]> {
  if (items.length === 0) yield []
  for (const [at, item] of items.entries()) {
    const others = [...items.slice(0, at), ...items.slice(at + 1)]
    for (const rest of permutations(others)) yield [item, ...rest]
  }
}

test('in any order, a payment that was ever reported paid ends paid', () => {
  const lives = [
    ['created', 'processing', 'success'],
    ['created', 'processing', 'failure', 'processing', 'success'],
    ['created', 'hold', 'success', 'reversed'],
    ['processing', 'failure', 'success', 'success', 'reversed'],
    ['processing', 'expired', 'success'],
  ]
  for (const life of lives) {
    for (const order of permutations(life)) assert.equal(statusAfter(order), 'paid', order.join())
  }
})

test('in any order, a payment that was never reported paid does not end paid', () => {
  const ends = [
    [['created', 'processing', 'failure'], 'failed'],
    [['processing', 'failure', 'processing', 'failure'], 'failed'],
    [['created', 'processing', 'expired'], 'canceled'],
    [['created', 'hold'], 'pending'],
    [['created', 'hold', 'reversed'], 'pending'],
  ] as const
  for (const [life, end] of ends) {
    for (const order of permutations(life)) assert.equal(statusAfter(order), end, order.join())
  }
})

test('a report of another invoice never settles the payment, however right the rest is', () => {
  const [outcome] = statedBy({ invoiceId: 'another' })
  assert.ok(outcome?.type === 'payment')
  assert.deepEqual(decide(charge, 'monobank', outcome), {
    kind: 'ignore',
    reason: 'checkout_reference_mismatch',
    review: true,
  })
})

test('other money than was charged never settles the payment', () => {
  for (const fields of [{ amount: 15074 }, { amount: 15076 }, { ccy: 840 }, { ccy: undefined }]) {
    const [outcome] = statedBy(fields)
    assert.ok(outcome?.type === 'payment')
    assert.deepEqual(decide(charge, 'monobank', outcome), {
      kind: 'ignore',
      reason: 'amount_mismatch',
      review: true,
    })
  }
})
