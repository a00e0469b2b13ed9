import assert from 'node:assert/strict'
import { test } from 'node:test'
import { charge, pending, rowOf, single, total } from '../../test/support/refund-rows.ts'
import { assertNever } from '../kernel/errors.ts'
import { matchRefund, type RefundRow } from './match-refund.ts'
import type { RefundOutcome } from './outcome.ts'

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
    case 'wait':
      return match.kind
    default:
      return assertNever(match)
  }
}

/** What the provider answered to a refund of ours, without an id of its own. */
const ownAnswer = (refundId: string): RefundOutcome => ({
  type: 'refund',
  payment: { id: charge.id },
  status: 'paid',
  amount: 1_000n,
  currency: 'USD',
  refundId,
})
const underWay = (id: string) => ({ ...pending(id), underWay: true })
const twelve = Array.from({ length: 12 }, (_, index) => pending(`row ${index}`))
const named = (row: RefundRow): RefundRow => ({
  ...row,
  refund: { ...row.refund, providerReference: `re ${row.refund.id}` },
})
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
  [
    'the answer to our own request, named by our id alone',
    ownAnswer('b'),
    [pending('a'), pending('b')],
    'b',
  ],
  [
    'the answer to our own request, which a callback has named meanwhile',
    ownAnswer('a'),
    [rowOf('a', { status: 'paid', amount: 1_000n, providerReference: 're_1' })],
    'a',
  ],
  [
    'an answer to a request of ours that no row remembers',
    ownAnswer('x'),
    [pending('a')],
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
  [
    'a refusal of our own, whose row a report has paid meanwhile',
    { ...ownAnswer('a'), status: 'failed' },
    [rowOf('a', { status: 'paid', amount: 1_000n, providerReference: 're_hand' })],
    'already_settled',
  ],
  [
    'a refusal of our own, whose row a report has named meanwhile',
    { ...ownAnswer('a'), status: 'failed' },
    [rowOf('a', { status: 'pending', amount: 1_000n, providerReference: 're_hand' })],
    'already_settled',
  ],
  ['a refusal of our own', { ...ownAnswer('a'), status: 'failed' }, [pending('a')], 'a'],
  [
    'a refusal of somebody else’s of equal amount',
    single({ status: 'failed' }),
    [pending('a')],
    'new 1000 re_1',
  ],
  ['one of equal amount while ours is under way', single(), [underWay('a')], 'new 1000 re_1'],
  ['a total while ours is under way', total(1_000n), [underWay('a'), pending('b')], 'wait'],
  ['a known total while ours is under way', total(500n), [counted('b', 500n), underWay('a')], 'b'],
  [
    'a total of two that we asked for, the first of them first',
    total(500n),
    [pending('a', 300n), pending('b', 200n)],
    'a',
  ],
  [
    'a total of the first and third of ours',
    total(400n),
    [pending('a', 300n), pending('b', 200n), pending('c', 100n)],
    'a',
  ],
  [
    'a refusal of our own, whose row a total has counted meanwhile',
    { ...ownAnswer('a'), status: 'failed' },
    [counted('a')],
    'already_settled',
  ],
  [
    'a total of the thirteenth alone: so many are never combined',
    total(7n),
    [...twelve, pending('last', 7n)],
    'new 7 null',
  ],
  [
    'a total of one that the provider has named, after so many others',
    total(7n),
    [...twelve.map(named), named(pending('last', 7n))],
    'new 7 null',
  ],
  [
    'a total of all of ours, however many they are',
    total(12_007n),
    [...twelve, pending('last', 7n)],
    'row 0',
  ],
  [
    'a total of less than ours, which is somebody else’s',
    total(250n),
    [pending('a', 300n), pending('b', 200n)],
    'new 250 null',
  ],
  [
    'a total of more than ours, which counts them',
    total(600n),
    [pending('a', 300n), pending('b', 200n)],
    'a',
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
