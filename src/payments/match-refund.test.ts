import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pendingPayment } from '../../test/support/pending-payment.ts'
import { assertNever } from '../kernel/errors.ts'
import { matchRefund, type RefundRow } from './match-refund.ts'
import type { RefundOutcome, SingleRefundOutcome } from './outcome.ts'
import type { Payment } from './payment.ts'

const charge = pendingPayment({ gateway: 'stripe', status: 'paid' })

function rowOf(id: string, fields: Partial<Payment> = {}, claimed = true): RefundRow {
  const refund = { ...charge, id, type: 'refund', parentId: charge.id, ...fields } as const
  return { refund, claimed }
}

const single = (fields: Partial<SingleRefundOutcome> = {}): SingleRefundOutcome => ({
  type: 'refund',
  payment: { id: charge.id },
  status: 'paid',
  amount: 1_000n,
  currency: 'USD',
  refundReference: 're_1',
  ...fields,
})
const total = (refundedTotal: bigint): RefundOutcome => ({
  type: 'refund',
  payment: { id: charge.id },
  status: 'paid',
  currency: 'USD',
  refundedTotal,
})

/** What the match is, in short: the row's id, `new 1000 re_1`, a reason, or `none`. */
function matchOf(outcome: RefundOutcome, rows: readonly RefundRow[]): string {
  const match = matchRefund(outcome, charge, rows)
  switch (match.kind) {
    case 'found':
      return match.row.refund.id
    case 'new':
      return `new ${match.amount} ${match.reference}`
    case 'mismatch':
      return match.reason
    case 'none':
      return match.kind
    default:
      return assertNever(match)
  }
}

const pending = (id: string, amount = 1_000n) => rowOf(id, { status: 'pending', amount })
const counted = (id: string, amount = 1_000n) => rowOf(id, { status: 'paid', amount })

const cases: readonly [string, RefundOutcome, readonly RefundRow[], string][] = [
  [
    'a refund that was known from a running total, and is named now',
    single(),
    [rowOf('totalled', { status: 'paid', amount: 1_000n, providerReference: null })],
    'totalled',
  ],
  [
    'a refund of another amount than the one known from a running total',
    single({ amount: 999n }),
    [rowOf('totalled', { status: 'paid', amount: 1_000n, providerReference: null })],
    'new 999 re_1',
  ],
  [
    'a refund beside one of equal amount that has a name of its own',
    single(),
    [rowOf('named', { status: 'paid', amount: 1_000n, providerReference: 're_2' })],
    'new 1000 re_1',
  ],
  [
    'our own pending refund before one that was known from a running total',
    single(),
    [
      rowOf('totalled', { status: 'paid', amount: 1_000n, providerReference: null }),
      pending('own'),
    ],
    'own',
  ],
  ['the first report of a refund', single(), [], 'new 1000 re_1'],
  [
    'a known reference, before our own row of equal amount',
    single(),
    [pending('ours'), rowOf('known', { amount: 1_000n, providerReference: 're_1' })],
    'known',
  ],
  [
    'our id echoed, before an older row of equal amount',
    single({ refundId: 'second' }),
    [pending('first'), pending('second')],
    'second',
  ],
  ['the oldest of our own of equal amount', single(), [pending('a'), pending('b')], 'a'],
  ['our own of another amount', single(), [pending('a', 999n)], 'new 1000 re_1'],
  [
    'our own that has another reference already',
    single({ refundId: 'a' }),
    [rowOf('a', { status: 'pending', amount: 1_000n, providerReference: 're_2' })],
    'new 1000 re_1',
  ],
  [
    'a known reference with another amount',
    single({ amount: 999n }),
    [rowOf('known', { amount: 1_000n, providerReference: 're_1' })],
    'amount_mismatch',
  ],
  [
    'our id echoed with another amount',
    single({ refundId: 'a', amount: 999n }),
    [pending('a')],
    'amount_mismatch',
  ],
  [
    'a known reference without an amount',
    { ...single(), amount: undefined } as unknown as RefundOutcome,
    [rowOf('known', { amount: 1_000n, providerReference: 're_1' })],
    'known',
  ],
  [
    'an unknown reference without an amount',
    { ...single(), amount: undefined } as unknown as RefundOutcome,
    [],
    'amount_mismatch',
  ],
  ['a refund of nothing', single({ amount: 0n }), [], 'amount_mismatch'],
  ['one known from a total alone', single(), [counted('a')], 'a'],
  [
    'our own pending one, before an older one known from a total alone',
    single(),
    [counted('a'), pending('b')],
    'b',
  ],
  [
    'one of another amount known from a total alone',
    single(),
    [counted('a', 999n)],
    'new 1000 re_1',
  ],
  [
    'one of equal amount that the provider has named otherwise',
    single(),
    [rowOf('a', { status: 'paid', amount: 1_000n, providerReference: 're_2' })],
    'new 1000 re_1',
  ],
  [
    'our own of equal amount that has failed',
    single(),
    [rowOf('a', { status: 'failed', amount: 1_000n })],
    'new 1000 re_1',
  ],
  ['nothing refunded', total(0n), [], 'none'],
  ['nothing refunded, with a refund known', total(0n), [rowOf('a', { status: 'paid' })], 'none'],
  ['a first total', total(300n), [], 'new 300 null'],
  [
    'a total of named refunds',
    total(500n),
    [rowOf('a', { status: 'paid', amount: 300n, providerReference: 're_1' })],
    'new 200 null',
  ],
  [
    'a total that our own pending refund explains',
    total(500n),
    [counted('a', 300n), pending('b', 200n)],
    'b',
  ],
  [
    'a total that a pending refund explains which the provider has named',
    total(500n),
    [rowOf('a', { status: 'pending', amount: 500n, providerReference: 're_1' })],
    'a',
  ],
  [
    'a total that our own pending refund explains, before an older one that has a name',
    total(500n),
    [
      rowOf('a', { status: 'pending', amount: 500n, providerReference: 're_1' }),
      pending('b', 500n),
    ],
    'b',
  ],
  [
    'a refusal beside a refund of equal amount known from a running total',
    single({ status: 'failed' }),
    [counted('totalled')],
    'new 1000 re_1',
  ],
  [
    'a refund that is accepted only, and known from a running total',
    single({ status: 'pending' }),
    [counted('totalled')],
    'totalled',
  ],
  [
    'a total that a failed refund does not count in',
    total(500n),
    [rowOf('a', { status: 'failed', amount: 500n })],
    'new 500 null',
  ],
  [
    'a known total, the event of an earlier refund being due',
    total(300n),
    [rowOf('a', { status: 'paid', amount: 300n }, false), counted('b', 200n)],
    'a',
  ],
  ['a known total of one refund', total(300n), [counted('a', 300n)], 'a'],
  ['a known total, all told', total(500n), [counted('a', 300n), counted('b', 200n)], 'b'],
]
for (const [what, outcome, rows, expected] of cases) {
  test(`${what} -> ${expected}`, () => assert.equal(matchOf(outcome, rows), expected))
}

test('another currency, or none, fits no refund of the charge, known or not', () => {
  const known = [rowOf('known', { amount: 1_000n, providerReference: 're_1' })]
  for (const outcome of [single(), total(1_000n)]) {
    for (const currency of ['UAH', 'usd', undefined]) {
      const stated = { ...outcome, currency } as RefundOutcome
      for (const rows of [known, []]) assert.equal(matchOf(stated, rows), 'amount_mismatch')
    }
  }
})

/** Applies a paid report as the core does: a match becomes paid, a new one gets its row. */
function apply(rows: readonly RefundRow[], outcome: RefundOutcome): readonly RefundRow[] {
  const match = matchRefund(outcome, charge, rows)
  const reference = 'refundReference' in outcome ? outcome.refundReference : null
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

const amounts = fc.bigInt({ min: 0n, max: 9_000n })

test('running totals in any order, with repetitions: the rows add up to the largest', () => {
  fc.assert(
    fc.property(fc.array(amounts), fc.array(amounts, { maxLength: 3 }), (totals, own) => {
      const ours = own.map((amount, index) => pending(`own ${index}`, amount))
      const rows = totals.map(total).reduce(apply, ours)
      const largest = totals.reduce((most, one) => (one > most ? one : most), 0n)
      assert.equal(sumOf(rows), largest)
      assert.ok(rows.every(({ refund }) => refund.amount >= 0n))
    }),
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
