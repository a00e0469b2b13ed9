import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutcomeResult } from '../payments/outcome.ts'
import { reasons } from '../payments/reasons.ts'
import { callAdvice, callRemark, reviewRemark } from './call-remark.ts'

const processed = { state: 'processed', exception: null, needsReview: true } as const
const paid: OutcomeResult = { result: 'applied', type: 'payment:paid' }
const ignored: OutcomeResult = { result: 'ignored', type: 'payment', reason: 'already_paid' }

test('a call that a person must look at says why, also where it was applied', () => {
  const rows: readonly (readonly [OutcomeResult, string])[] = [
    [ignored, 'already_paid'],
    [{ ...paid, detail: 'paid_after_cancel' }, 'paid_after_cancel'],
    [{ result: 'applied', type: 'dispute:open' }, 'dispute:open'],
  ]
  for (const [outcome, why] of rows) {
    assert.equal(callRemark({ ...processed, outcome: [outcome] }), `needs review: ${why}`)
    assert.equal(reviewRemark({ ...processed, outcome: [outcome] }), why)
  }
  const refund = { result: 'applied', type: 'refund:paid', detail: 'over_refund' } as const
  assert.equal(reviewRemark({ ...processed, outcome: [paid, refund] }), 'over_refund')
})

test('one that nobody must look at says what it did, or why it was ignored', () => {
  const call = { ...processed, needsReview: false }
  const refunded = { result: 'duplicate', type: 'refund:paid' } as const
  assert.equal(
    callRemark({ ...call, outcome: [{ ...paid, detail: 'superseded' }, refunded] }),
    'payment:paid, refund:paid (known already)',
  )
  assert.equal(callRemark({ ...call, outcome: [ignored] }), 'already_paid')
  assert.equal(reviewRemark({ ...call, outcome: [ignored] }), undefined)
})

test('one that failed says what was thrown, in one line', () => {
  const call = {
    ...processed,
    state: 'failed',
    outcome: null,
    exception: 'Error: a\n at b',
  } as const
  assert.equal(callRemark(call), 'Error: a')
  assert.equal(reviewRemark(call), 'failed')
  assert.equal(callRemark({ ...call, state: 'pending' }), 'needs review: Error: a')
})

test('each reason is explained once; what to do is said where a person must look', () => {
  const { callback, step, docs } = reasons.already_paid
  const outcome = [paid, ignored, ignored]
  const [why, see] = [
    ['why', callback],
    ['see', `docs/${docs}`],
  ]
  assert.deepEqual(callAdvice({ ...processed, outcome }), [why, ['do', step], see])
  assert.deepEqual(callAdvice({ ...processed, outcome, needsReview: false }), [why, see])
})

test('a call that was applied, or failed, has advice only where a person must look', () => {
  const outcome = [
    { ...paid, detail: 'paid_after_cancel' },
    { ...paid, detail: 'superseded' },
  ]
  const failed = { ...processed, state: 'failed', outcome: null } as const
  for (const [call, reason] of [
    [{ ...processed, outcome }, 'paid_after_cancel'],
    [failed, 'call_failed'],
  ] as const) {
    const { step, docs } = reasons[reason]
    assert.deepEqual(callAdvice(call), [
      ['do', step],
      ['see', `docs/${docs}`],
    ])
    assert.deepEqual(callAdvice({ ...call, needsReview: false }), [])
  }
})
