import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { charge, pending, rowOf, single, total } from '../../test/support/refund-rows.ts'
import { matchRefund, type RefundRow } from './match-refund.ts'
import { refundReferenceOf, type RefundOutcome } from './outcome.ts'

/** Applies a paid report as the core does: a total again and again, while it moves or makes a row. */
function apply(rows: readonly RefundRow[], outcome: RefundOutcome): readonly RefundRow[] {
  const next = applyOnce(rows, outcome)
  const isNews = paidCount(next) !== paidCount(rows) && 'refundedTotal' in outcome
  return isNews ? apply(next, outcome) : next
}

/** A match becomes paid, a new one gets its row. */
function applyOnce(rows: readonly RefundRow[], outcome: RefundOutcome): readonly RefundRow[] {
  const match = matchRefund(outcome, charge, rows)
  const reference = refundReferenceOf(outcome)
  if (match.kind === 'new') {
    const { amount } = match
    const fields = { status: 'paid', amount, providerReference: match.reference } as const
    return [...rows, rowOf(`row ${rows.length}`, fields)]
  }
  if (match.kind !== 'found') return rows
  return rows.map((row) => {
    if (row !== match.row) return row
    const providerReference = row.refund.providerReference ?? reference
    return { ...row, refund: { ...row.refund, status: 'paid', providerReference } }
  })
}

const sumOf = (rows: readonly RefundRow[]) =>
  rows
    .filter(({ refund }) => refund.status === 'paid')
    .reduce((sum, { refund }) => sum + refund.amount, 0n)

const paidCount = (rows: readonly RefundRow[]) =>
  rows.filter(({ refund }) => refund.status === 'paid').length

const amounts = fc.bigInt({ min: 0n, max: 9_000n })
/** Nobody asks for a refund of nothing. */
const asked = fc.bigInt({ min: 1n, max: 9_000n })

test('running totals in any order, with repetitions: the rows add up to the largest', () => {
  fc.assert(
    fc.property(fc.array(amounts), fc.array(asked, { maxLength: 3 }), (totals, own) => {
      const ours = own.map((amount, index) => pending(`own ${index}`, amount))
      const rows = totals.map(total).reduce(apply, ours)
      const largest = totals.reduce((most, one) => (one > most ? one : most), 0n)
      assert.equal(sumOf(rows), largest)
      assert.ok(rows.every(({ refund }) => refund.amount >= 0n))
    }),
    // A row of nothing, which nobody can ask for, would stand before what went back.
    { examples: [[[1n], [0n]]] },
  )
})

test('named refunds in any order, with repetitions: each has one row with its amount', () => {
  const refunds = fc.uniqueArray(
    fc.record({
      refundReference: fc.string({ minLength: 1 }),
      amount: fc.constantFrom(1n, 2n, 3n),
    }),
    { selector: ({ refundReference }) => refundReference, minLength: 1 },
  )
  const reports = refunds.chain((all) =>
    fc.tuple(
      fc.constant(all),
      fc
        .array(fc.constantFrom(...all))
        .chain((more) =>
          fc.shuffledSubarray([...all, ...more], { minLength: all.length + more.length }),
        ),
      fc.array(fc.constantFrom(1n, 2n, 3n), { maxLength: 3 }),
    ),
  )
  fc.assert(
    fc.property(reports, ([all, sent, own]) => {
      const ours = own.map((amount, index) => pending(`own ${index}`, amount))
      const rows = sent.map((fields) => single(fields)).reduce(apply, ours)
      for (const { refundReference, amount } of all) {
        const found = rows.filter(({ refund }) => refund.providerReference === refundReference)
        assert.deepEqual(
          found.map(({ refund }) => [refund.status, refund.amount]),
          [['paid', amount]],
        )
      }
      const expected = all.reduce((sum, { amount }) => sum + amount, 0n)
      assert.equal(sumOf(rows), expected)
    }),
  )
})
