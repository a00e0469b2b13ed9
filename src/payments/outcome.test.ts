import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  chargedAsIs,
  firstPaymentOf,
  ignored,
  refundReferenceOf,
  speaksOfMoney,
  type PaymentOutcome,
  type RefundOutcome,
} from './outcome.ts'
import { ignoredReasons, type IgnoredReason } from './reasons.ts'

const payment = { id: '7c9e6679-7425-40de-944b-e07fc1f90ae7' }
const first = { id: '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01' }

test('what cannot be read speaks of money, and nothing else that does not say so itself', () => {
  const speaking = ignoredReasons.filter((reason) => speaksOfMoney(ignored(reason)))
  assert.deepEqual(speaking, ['unreadable_payload', 'malformed_payload'])
  for (const reason of ignoredReasons) {
    for (const money of [true, false]) {
      assert.equal(speaksOfMoney(ignored(reason, undefined, { money })), money, reason)
    }
  }
})

test('a reason that this version does not know is ignored like any other', () => {
  for (const reason of ['from_the_future', 'toString'] as unknown as readonly IgnoredReason[]) {
    assert.equal(speaksOfMoney(ignored(reason)), false)
  }
})

test('an ignored report says what it was told to say, and nothing that it was not', () => {
  assert.deepEqual(ignored('no_outcome'), { type: 'ignored', reason: 'no_outcome' })
  const about = { money: true, payment, claimed: { id: first.id, by: 'payer' } } as const
  assert.deepEqual(ignored('unhandled_event', 'ping', about), {
    type: 'ignored',
    reason: 'unhandled_event',
    detail: 'ping',
    ...about,
  })
})

test('a charge is ours by its first payment: by its own where it renews none, or says not which', () => {
  assert.equal(firstPaymentOf({ payment }), payment)
  assert.equal(firstPaymentOf({ payment, renews: 'subscription' }), payment)
  assert.equal(firstPaymentOf({ payment, renews: first }), first)
})

test('only an outcome that is meant so, and states no money at all, counts whatever was charged', () => {
  const rows: readonly (readonly [Partial<PaymentOutcome>, boolean])[] = [
    [{}, false],
    [{ amountIs: 'as_charged' }, true],
    [{ amountIs: 'as_charged', amount: 0n }, false],
    [{ amountIs: 'as_charged', currency: 'USD' }, false],
  ]
  for (const [fields, expected] of rows) {
    assert.equal(chargedAsIs({ type: 'payment', status: 'paid', payment, ...fields }), expected)
  }
})

test('a refund goes by the provider’s own id, and a running total by none', () => {
  const refund = { type: 'refund', status: 'paid', payment } as const
  const named: RefundOutcome = { ...refund, refundReference: 're_1', amount: 1n, currency: 'USD' }
  assert.equal(refundReferenceOf(named), 're_1')
  assert.equal(refundReferenceOf({ ...named, refundedTotal: 1n }), null)
})
