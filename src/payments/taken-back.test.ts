import assert from 'node:assert/strict'
import { test } from 'node:test'
import { standingOf } from './standing.ts'
import { takenBackOf, type Taking } from './taken-back.ts'

const charge = { amount: 2_000n, currency: 'USD' }
const refund = (status: 'paid' | 'pending', amount: bigint): Taking => ({
  kind: 'refund',
  status,
  amount,
})
const dispute = (
  status: 'open' | 'lost',
  amount: bigint | null,
  currency: string | null = 'USD',
): Taking => ({ kind: 'dispute', status, amount, currency, reference: 'du_1' })
const stateOf = (...takings: readonly Taking[]) =>
  standingOf({ type: 'charge', status: 'paid', ...charge }, takenBackOf(charge, takings)).state
const sums = (...takings: readonly Taking[]) => {
  const { refunded, credited, reserved } = takenBackOf(charge, takings)
  return [refunded, credited, reserved]
}

test('refunds and disputes take a charge back, each to its own degree', () => {
  assert.deepEqual(sums(), [0n, 0n, 0n])
  assert.deepEqual(sums(refund('paid', 300n), refund('pending', 200n)), [300n, 300n, 500n])
  assert.deepEqual(sums(dispute('open', 700n)), [0n, 0n, 700n])
  assert.deepEqual(sums(dispute('lost', 700n), dispute('open', 100n)), [0n, 700n, 800n])
})

test('a dispute takes at most what refunds have left', () => {
  assert.deepEqual(sums(refund('paid', 500n), dispute('lost', 2_000n)), [500n, 2_000n, 2_000n])
  assert.deepEqual(sums(refund('paid', 2_000n), dispute('lost', 2_000n)), [2_000n, 2_000n, 2_000n])
  assert.deepEqual(sums(refund('pending', 500n), dispute('open', 2_000n)), [0n, 0n, 2_000n])
  // More went back than was charged.
  assert.deepEqual(sums(refund('paid', 2_500n), dispute('open', 1n)), [2_500n, 2_500n, 2_500n])
})

test('a dispute over a sum that is not known, or in another currency, is over all of it', () => {
  for (const one of [
    dispute('lost', null),
    dispute('lost', 5n, 'EUR'),
    dispute('lost', 5n, null),
  ]) {
    assert.deepEqual(sums(one), [0n, 2_000n, 2_000n])
  }
})

test('people see what became of a paid charge; any other is what its status says', () => {
  assert.equal(stateOf(), 'paid')
  assert.equal(stateOf(refund('pending', 2_000n)), 'paid')
  assert.equal(stateOf(refund('paid', 300n)), 'partly_refunded')
  assert.equal(stateOf(refund('paid', 2_000n)), 'refunded')
  assert.equal(stateOf(refund('paid', 300n), dispute('open', 100n)), 'disputed')
  assert.equal(stateOf(refund('paid', 300n), dispute('lost', null)), 'disputed')
  assert.equal(stateOf(refund('paid', 2_000n), dispute('open', 1n)), 'disputed')
  assert.equal(stateOf(refund('paid', 2_000n), dispute('lost', 2_000n)), 'refunded')
  const back = takenBackOf(charge, [refund('paid', 2_000n)])
  for (const [type, status] of [
    ['charge', 'canceled'],
    ['refund', 'paid'],
  ] as const) {
    assert.equal(standingOf({ type, status, ...charge }, back).state, status)
  }
})
