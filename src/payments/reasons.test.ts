import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ignoredReasons, reasons, recordedReasons, reviewReasons, stepFor } from './reasons.ts'
import { inWords } from './review-words.ts'

const stated = { reference: 'pi_2', amount: 199_000n, currency: 'UAH' }
const expected = { amount: 199_900n, currency: 'UAH' }

test('every reason has words, a step for a person, and a place in the docs', () => {
  for (const reason of reviewReasons) {
    const said = inWords({ reason, detail: null, stated, expected })
    assert.match(said, /^[a-z{][^{}]+[^{}.]$|^[\d.]+ UAH [^{}]+[^{}.]$/, reason)
    assert.equal(said.includes('pi_2'), reasons[reason].review.includes('{stated}'), said)
    assert.match(stepFor(reason), /^[A-Z][^_]+\.$|^[A-Z][^_]+\)\.$/)
    assert.match(reasons[reason].docs, /^[\w-]+\.md#[\w-]+$/)
  }
})

test('a reason has a sentence for an ignored callback, or it is about something else', () => {
  for (const reason of reviewReasons) {
    const isIgnored = ignoredReasons.some((one) => one === reason)
    assert.equal(reasons[reason].callback !== undefined, isIgnored, reason)
    if (isIgnored) assert.match(reasons[reason].callback ?? '', /^[A-Z][^_]+\.$/)
  }
  assert.ok(recordedReasons.every((reason) => reasons[reason].callback === undefined))
})

test('words say the money that was stated, and the money that was expected', () => {
  assert.equal(
    inWords({ reason: 'amount_mismatch', detail: null, stated, expected }),
    '1990.00 UAH (pi_2) was reported, but 1999.00 UAH was expected; the payment stays as it was',
  )
  assert.equal(
    inWords({ reason: 'already_paid_other_reference', detail: null, stated, expected }),
    'the payer paid twice: 1990.00 UAH (pi_2) came as well',
  )
})

test('what was not stated is said to be unknown; details follow', () => {
  const nothing = { reference: null, amount: null, currency: null }
  assert.equal(
    inWords({ reason: 'amount_mismatch', detail: 'x', stated: nothing, expected: null }),
    'money of an unknown amount was reported, but other money was expected; the payment stays as it was (x)',
  )
})

test('a reason of a later version stands for itself and has a step, and what a provider names is not read as ours', () => {
  const odd = { reference: '{expected}$&', amount: 1n, currency: 'UAH' }
  assert.equal(
    inWords({ reason: 'from_the_future', detail: null, stated: odd, expected }),
    'from_the_future',
  )
  for (const unknown of ['from_the_future', 'toString']) {
    assert.match(stepFor(unknown), /does not know the reason/)
  }
  assert.match(
    inWords({ reason: 'amount_mismatch', detail: null, stated: odd, expected }),
    /^0\.01 UAH \(\{expected\}\$&\) was reported, but 1999\.00 UAH was expected; /,
  )
})
