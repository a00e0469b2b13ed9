import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Outcome } from '../../payments/outcome.ts'
import {
  cancellation,
  invoiceId,
  paid,
  refund,
  statedBy,
} from '../../../test/gateways/monobank/invoices.ts'

/** What a paid invoice states beside the payment, with these entries. */
function refundsOf(...cancelList: readonly unknown[]): readonly Outcome[] {
  const [payment, ...refunds] = statedBy({ cancelList })
  assert.deepEqual(payment, paid)
  return refunds
}

const whole = {
  type: 'refund',
  payment: { checkoutReference: invoiceId },
  status: 'paid',
  refundedTotal: 15075n,
  currency: 'UAH',
}
const malformed = (detail: string) => ({ type: 'ignored', reason: 'malformed_payload', detail })

test('a paid invoice states its refunds too, each with its own status', () => {
  assert.deepEqual(refundsOf(), [])
  assert.deepEqual(refundsOf(cancellation()), [refund])
  const statuses = { success: 'paid', processing: 'pending', failure: 'failed' }
  for (const [status, expected] of Object.entries(statuses)) {
    assert.deepEqual(refundsOf(cancellation({ status })), [{ ...refund, status: expected }])
  }
  const second = cancellation({
    amount: 10075,
    extRef: 'back-2',
    createdDate: '2026-11-22T08:00:00Z',
  })
  assert.deepEqual(refundsOf(cancellation(), second), [
    refund,
    { ...refund, amount: 10075n, refundReference: `${invoiceId}/back-2` },
  ])
})

test('only a paid or reversed invoice has refunds', () => {
  for (const status of ['created', 'processing', 'hold']) {
    const outcomes = statedBy({ status, cancelList: [cancellation()] })
    assert.deepEqual(outcomes, [{ type: 'ignored', reason: 'no_outcome', detail: status }])
  }
  for (const [status, result] of [
    ['failure', 'failed'],
    ['expired', 'canceled'],
  ]) {
    const outcomes = statedBy({ status, cancelList: [cancellation()] })
    assert.deepEqual(outcomes, [{ ...paid, status: result }])
  }
})

/** What a reversed invoice states after what holds of our own checkouts alone: that it was paid. */
function reversed(fields: object): readonly Outcome[] {
  const [payment, ...refunds] = statedBy({ status: 'reversed', ...fields })
  assert.ok(payment?.type === 'payment')
  assert.deepEqual([payment.status, payment.ifOpenedHere], ['paid', true])
  return refunds
}

test('a reversed invoice states its refunds, each with its own status', () => {
  const all = cancellation({ amount: 15075 })
  assert.deepEqual(reversed({ cancelList: [all] }), [{ ...refund, amount: 15075n }])
  const waiting = cancellation({ status: 'processing' })
  assert.deepEqual(reversed({ cancelList: [waiting] }), [{ ...refund, status: 'pending' }])
})

test('a reversed invoice that lists no refund is refunded as a whole, told as a total', () => {
  for (const cancelList of [undefined, null, []]) {
    assert.deepEqual(reversed({ cancelList }), [whole])
  }
  const failed = cancellation({ status: 'failure' })
  assert.deepEqual(reversed({ cancelList: [failed] }), [{ ...refund, status: 'failed' }, whole])
  const faulty = [whole, malformed('cancelList.amount')]
  assert.deepEqual(reversed({ cancelList: [cancellation({ amount: '50' })] }), faulty)
  assert.deepEqual(reversed({ amount: undefined }), [malformed('amount')])
  const { currency: _, ...withoutCurrency } = whole
  assert.deepEqual(reversed({ ccy: undefined }), [withoutCurrency])
})

test('our own refund is named where its id is echoed as extRef', () => {
  const refundId = '0198f0aa-0000-7000-8000-00000000000a'
  const refundReference = `${invoiceId}/${refundId}`
  for (const extRef of [refundId, refundId.toUpperCase()]) {
    assert.deepEqual(refundsOf(cancellation({ extRef })), [
      { ...refund, refundReference, refundId },
    ])
  }
})

test('without extRef a refund is named by its time and amount', () => {
  for (const extRef of [undefined, null, '', 7]) {
    const refundReference = `${invoiceId}/2026-11-21T08:59:58Z/5000`
    assert.deepEqual(refundsOf(cancellation({ extRef })), [{ ...refund, refundReference }])
  }
})

test('an extRef that is long or no plain ASCII is named by its digest', () => {
  for (const extRef of ['повернення', 'a b', 'a\n', '\u0000', 'x'.repeat(101)]) {
    const digest = createHash('sha256').update(extRef).digest('hex')
    const refundReference = `${invoiceId}/${digest}`
    assert.deepEqual(refundsOf(cancellation({ extRef })), [{ ...refund, refundReference }])
  }
  const longest = 'x'.repeat(100)
  assert.deepEqual(refundsOf(cancellation({ extRef: longest })), [
    { ...refund, refundReference: `${invoiceId}/${longest}` },
  ])
})

test('refunds with one extRef all count, and the oldest keeps the plain name', () => {
  const oldest = cancellation({ amount: 1000, createdDate: '2026-11-21T08:00:00Z' })
  const newer = cancellation({ amount: 2000, createdDate: '2026-11-21T09:00:00Z' })
  const fraction = cancellation({ amount: 3000, createdDate: '2026-11-21T09:00:00.5Z' })
  const plain = { ...refund, amount: 1000n }
  assert.deepEqual(refundsOf(oldest), [plain])
  const all = [
    plain,
    {
      ...refund,
      amount: 2000n,
      refundReference: `${refund.refundReference}/2026-11-21T09:00:00Z/2000`,
    },
    {
      ...refund,
      amount: 3000n,
      refundReference: `${refund.refundReference}/2026-11-21T09:00:00.5Z/3000`,
    },
  ]
  assert.deepEqual(refundsOf(newer, fraction, oldest), all)
  assert.deepEqual(refundsOf(oldest, newer, fraction), all)
})

test('only one of several refunds with one extRef is taken for our own', () => {
  const extRef = '0198f0aa-0000-7000-8000-00000000000a'
  const outcomes = refundsOf(
    cancellation({ extRef, status: 'failure' }),
    cancellation({ extRef, createdDate: '2026-11-22T08:59:58Z' }),
  )
  const ids = outcomes.map((outcome) => 'refundId' in outcome)
  assert.deepEqual(ids, [true, false])
})

test('refunds alike in all but the number of their transaction are several', () => {
  const names = (...items: readonly object[]) =>
    refundsOf(...items).map((outcome) => 'refundReference' in outcome && outcome.refundReference)
  const plain = refund.refundReference
  const exact = `${plain}/2026-11-21T08:59:58Z/5000`
  const first = cancellation({ rrn: '1' })
  const second = cancellation({ rrn: '2' })
  assert.deepEqual(names(first, second), [plain, exact])
  assert.deepEqual(names(cancellation(), cancellation(), cancellation()), [
    plain,
    exact,
    `${exact}/2`,
  ])
  const fourth = [cancellation(), cancellation(), cancellation(), cancellation()]
  assert.deepEqual(names(...fourth).at(-1), `${exact}/3`)
  assert.deepEqual(names(first, first), [plain])
  assert.deepEqual(names(first, { ...first, amount: 1 }).length, 2)
  assert.deepEqual(names(first, { ...first, status: 'failure' }).length, 2)
  assert.deepEqual(names(first, { ...first, createdDate: '2026-11-21T08:59:59Z' }).length, 2)
  assert.deepEqual(names(first, { ...first, extRef: 'other' }).length, 2)
})

test('of refunds alike the one that went through keeps the plain name', () => {
  const items = ['failure', 'success', 'processing'].map((status) => cancellation({ status }))
  const statuses = refundsOf(...items).map((outcome) => 'status' in outcome && outcome.status)
  assert.deepEqual(statuses, ['paid', 'pending', 'failed'])
})

test('smaller amounts come first among refunds of one moment, by number and not by text', () => {
  const items = [10_000, 9000].map((amount) => cancellation({ amount }))
  const amounts = refundsOf(...items).map((outcome) => 'amount' in outcome && outcome.amount)
  assert.deepEqual(amounts, [9000n, 10_000n])
})

const items = fc
  .record({
    status: fc.constantFrom('success', 'processing', 'failure'),
    amount: fc.integer({ min: 1, max: 3 }),
    extRef: fc.constantFrom('a', 'b', null),
    createdDate: fc.constantFrom('2026-11-21T08:59:58Z', '2026-11-21T10:59:58+02:00'),
    rrn: fc.constantFrom('1', '2', null),
  })
  .map((fields) => cancellation(fields))

test('the order of the list changes nothing, and no reference is given twice', () => {
  const lists = fc
    .array(items, { maxLength: 6 })
    .chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    )
  const byReference = (list: readonly object[]) =>
    new Map(
      refundsOf(...list).map((outcome) => [
        'refundReference' in outcome ? outcome.refundReference : '',
        outcome,
      ]),
    )
  fc.assert(
    fc.property(lists, ([list, shuffled]) => {
      assert.deepEqual(byReference(shuffled), byReference(list))
      assert.equal(byReference(list).size, refundsOf(...list).length)
    }),
  )
})

test('refunds that differ in their currency alone, or in how they are named, keep their names', () => {
  const unnamed = cancellation({ extRef: undefined })
  const pairs = [
    [cancellation({ ccy: 840 }), cancellation()],
    [unnamed, cancellation({ extRef: '2026-11-21T08:59:58Z/5000' })],
  ] as const
  for (const [one, other] of pairs) {
    assert.deepEqual(refundsOf(one, other), refundsOf(other, one))
    assert.equal(refundsOf(one, other).length, 2)
  }
  const extRefs = ['2026-11-21T08:59:58Z/5000', '0198f0aa-0000-7000-8000-00000000000a']
  const both = extRefs.map((extRef) => cancellation({ extRef }))
  assert.deepEqual(refundsOf(...both), refundsOf(...both.toReversed()))
})

test('the currency of a refund is its own, else that of its invoice', () => {
  assert.deepEqual(refundsOf(cancellation({ ccy: 840 })), [{ ...refund, currency: 'USD' }])
  assert.deepEqual(refundsOf(cancellation({ ccy: undefined })), [refund])
})

test('an entry that cannot be read is told and counted as nothing', () => {
  const faults = [
    [null, 'cancelList'],
    [[], 'cancelList'],
    ['success', 'cancelList'],
    [cancellation({ status: undefined }), 'cancelList.status'],
    [cancellation({ status: 7 }), 'cancelList.status'],
    [cancellation({ amount: undefined }), 'cancelList.amount'],
    [cancellation({ amount: -1 }), 'cancelList.amount'],
    [cancellation({ amount: 1.5 }), 'cancelList.amount'],
    [cancellation({ ccy: null }), 'cancelList.ccy'],
    [cancellation({ ccy: 'UAH' }), 'cancelList.ccy'],
    [cancellation({ extRef: undefined, createdDate: undefined }), 'cancelList.createdDate'],
    [cancellation({ extRef: undefined, createdDate: 'today' }), 'cancelList.createdDate'],
    [
      cancellation({ extRef: undefined, createdDate: ' 2026-11-21T08:59:58Z' }),
      'cancelList.createdDate',
    ],
    [
      cancellation({ extRef: undefined, createdDate: '2026-11-21T08:59:58Zx' }),
      'cancelList.createdDate',
    ],
  ] as const
  for (const [item, field] of faults) {
    assert.deepEqual(refundsOf(item), [malformed(field)])
    const good = cancellation({ extRef: 'good' })
    const reference = `${invoiceId}/good`
    assert.deepEqual(refundsOf(item, good), [
      { ...refund, refundReference: reference },
      malformed(field),
    ])
  }
  const unknown = {
    type: 'ignored',
    reason: 'unhandled_event',
    detail: 'cancelList status partial',
  }
  assert.deepEqual(refundsOf(cancellation({ status: 'partial' })), [unknown])
  for (const cancelList of [{}, 'x', 7, true]) {
    assert.deepEqual(statedBy({ cancelList }), [paid, malformed('cancelList')])
  }
  assert.deepEqual(refundsOf(cancellation({ createdDate: 'today' })), [refund])
})
