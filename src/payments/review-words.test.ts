import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inWords, reviewWords } from './review-words.ts'
import { reviewReasons } from './review.ts'

const stated = { reference: 'pi_2', amount: 199_000n, currency: 'UAH' }
const expected = { amount: 199_900n, currency: 'UAH' }

test('every reason has words, and no words are left over', () => {
  assert.deepEqual(Object.keys(reviewWords).toSorted(), [...reviewReasons].toSorted())
  for (const reason of reviewReasons) {
    const said = inWords({ reason, detail: null, stated, expected })
    assert.match(said, /^[a-z{][^{}]+$|^[\d.]+ UAH [^{}]+$/, reason)
    assert.equal(said.includes('_'), reviewWords[reason].includes('{stated}'), said)
  }
})

test('words say the money that was stated, and the money that was expected', () => {
  assert.equal(
    inWords({ reason: 'amount_mismatch', detail: null, stated, expected }),
    '1990.00 UAH (pi_2), 1999.00 UAH expected; the payment stays as it was',
  )
  assert.equal(
    inWords({ reason: 'already_paid_other_reference', detail: null, stated, expected }),
    'paid twice: 1990.00 UAH (pi_2) as well; refund one at the provider',
  )
})

test('what was not stated is said to be unstated; details follow', () => {
  const nothing = { reference: null, amount: null, currency: null }
  assert.equal(
    inWords({ reason: 'amount_mismatch', detail: 'x', stated: nothing, expected: null }),
    'unstated money, other money expected; the payment stays as it was (x)',
  )
})

test('a reason of a later version stands for itself, and what a provider names is not read as ours', () => {
  const odd = { reference: '{expected}$&', amount: 1n, currency: 'UAH' }
  assert.equal(
    inWords({ reason: 'from_the_future', detail: null, stated: odd, expected }),
    'from_the_future',
  )
  assert.match(
    inWords({ reason: 'amount_mismatch', detail: null, stated: odd, expected }),
    /^0\.01 UAH \(\{expected\}\$&\), 1999\.00 UAH expected; /,
  )
})
