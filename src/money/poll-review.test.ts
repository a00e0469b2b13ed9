import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingPayment } from '../../test/support/pending-payment.ts'
import type { Standing } from '../gateways/operations.ts'
import type { Payment } from '../payments/payment.ts'
import { type IgnoredReason, ignoredReasons } from '../payments/reasons.ts'
import { ignoredResult, type Applied } from '../outcomes/applied.ts'
import { noteOf, reviewOf } from './poll-review.ts'

const payment = pendingPayment({ gateway: 'x', checkout: 'open' })
const paid = { ...payment, status: 'paid' } as const
const standings = ['open', 'undecided', 'paid', 'unpaid', 'absent', 'unclear'] as const

const unhandled = (reason: IgnoredReason, detail?: string, review = false) =>
  ignoredResult({ type: 'callback', reason, detail, review })
const recorded = (type: string, review = false): Applied => ({
  kind: 'recorded',
  payment,
  review,
  result: { result: 'applied', type },
})
const claimed = (type: string, detail?: string): Applied => ({
  kind: 'claim',
  payment,
  review: detail !== undefined,
  ...(detail !== undefined && { detail }),
  type,
  claim: { eventId: 'e', dedupKey: 'k', type: 'PaymentRefunded', subject: { payment } },
})

/** What is to be reviewed, by the standing, where anything is. */
function reviews(
  asked: Payment,
  ...applied: readonly Applied[]
): Partial<Record<Standing, string>> {
  return Object.fromEntries(
    standings.flatMap((standing) => {
      const review = reviewOf({ payment: asked, standing, applied })
      return review === undefined ? [] : [[standing, review]]
    }),
  )
}
const everywhere = (review: string) =>
  Object.fromEntries(standings.map((standing) => [standing, review]))

test('what an outcome says is for a person is so, whatever else is said', () => {
  const odd = unhandled('merchant_mismatch', undefined, true)
  for (const asked of [payment, paid]) {
    const told = reviews(asked, unhandled('no_outcome', 'a word'), odd, claimed('payment:paid'))
    assert.deepEqual(told, everywhere('needs a review: merchant_mismatch'))
  }
})

test('a provider that says nothing says too little where money was taken, and where it is unclear', () => {
  const nothing = 'needs a review: nothing that it says settles the payment'
  assert.deepEqual(reviews(payment), { paid: nothing, unclear: nothing })
  assert.deepEqual(reviews(paid), { unclear: nothing })
})

test('of what it says the first that was ignored is shown, with what was found', () => {
  const said = [unhandled('no_outcome', 'state 7'), unhandled('unhandled_event')]
  const shown = 'needs a review: no_outcome (state 7)'
  const review = reviews(payment, recorded('payment_method:attached'), ...said)
  assert.deepEqual([review.paid, review.unclear], [shown, shown])
  assert.deepEqual(reviews(paid, ...said), { unclear: shown })
})

test('beside words for unpaid only such reports may be ignored as fit them', () => {
  for (const reason of ignoredReasons) {
    const { open, unpaid, absent, undecided } = reviews(payment, unhandled(reason, 'x'))
    const fits = reason === 'no_outcome' || reason === 'already_settled'
    const expected = fits ? undefined : `needs a review: ${reason} (x)`
    assert.deepEqual([open, unpaid], [expected, expected])
    assert.deepEqual([absent, undecided], [undefined, undefined])
  }
  const both = reviews(payment, unhandled('no_outcome'), unhandled('unhandled_event'))
  assert.equal(both.unpaid, 'needs a review: unhandled_event')
})

test('what nobody has paid cannot be refunded', () => {
  const refunded = 'needs a review: a refund of what nobody has paid'
  for (const refund of [
    claimed('refund:paid'),
    recorded('refund:pending'),
    ignoredResult({ type: 'refund', reason: 'already_settled' }),
  ]) {
    const { open, unpaid, absent, undecided } = reviews(payment, recorded('payment:failed'), refund)
    assert.deepEqual([open, unpaid], [refunded, refunded])
    assert.deepEqual([absent, undecided], [undefined, undefined])
    assert.equal(reviews(paid, refund).unpaid, undefined)
  }
  assert.deepEqual(reviews(paid, claimed('payment:paid')).open, undefined)
})

test('a provider that does not know what it has named is asked with other credentials than then', () => {
  const unknown = 'needs a review: the provider does not know what it has named itself'
  const { absent, undecided } = reviews({ ...payment, checkoutReference: 'cs_1' })
  assert.deepEqual([absent, undecided], [unknown, undefined])
  assert.equal(reviews({ ...payment, providerReference: 'pi_1' }).absent, unknown)
  assert.equal(reviews({ ...paid, providerReference: 'pi_1' }).absent, undefined)
})

test('a standing that is none needs a review that names it, whatever else is said', () => {
  const standing = 'forgiven' as Standing
  const review = 'needs a review: the gateway answers with an unknown standing ("forgiven")'
  assert.equal(reviewOf({ payment, standing, applied: [] }), review)
  assert.equal(reviewOf({ payment, standing, applied: [unhandled('no_outcome')] }), review)
  assert.equal(reviewOf({ payment: paid, standing, applied: [] }), undefined)
})

test('of what counts the first that is for a person is noted, with what was found', () => {
  const late = claimed('payment:paid', 'paid_after_cancel')
  const open = recorded('dispute:open', true)
  const uncounted = unhandled('no_outcome', 'a word', true)
  assert.equal(noteOf([uncounted, claimed('payment:paid'), recorded('refund:paid')]), undefined)
  const note = 'needs a review: payment:paid (paid_after_cancel)'
  assert.equal(noteOf([uncounted, late, open]), note)
  assert.equal(noteOf([open, late]), 'needs a review: dispute:open')
})
