import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingPayment } from '../../test/support/pending-payment.ts'
import type { PaymentOutcome } from './outcome.ts'
import type { Payment } from './payment.ts'
import { decide, refundMismatch } from './transition.ts'

const id = '7c9e6679-7425-40de-944b-e07fc1f90ae7'
const pending = pendingPayment({ id, gateway: 'stripe' })
const paid: PaymentOutcome = {
  type: 'payment',
  payment: { id },
  status: 'paid',
  amount: 4999n,
  currency: 'USD',
}
const byPayer: Partial<PaymentOutcome> = {
  payment: { checkoutReference: 'cs_1' },
  checkoutReference: 'cs_1',
  claimed: { id, by: 'payer' },
}

const reviews: readonly [string, Partial<Payment>, Partial<PaymentOutcome>, boolean][] = [
  ['a payment from elsewhere', { gateway: 'paddle' }, {}, true],
  ['a decline from elsewhere', { gateway: 'paddle' }, { status: 'failed' }, false],
  ['a cancellation from elsewhere', { gateway: 'paddle' }, { status: 'canceled' }, false],
  ['money that claims a payment from elsewhere', { gateway: 'paddle' }, byPayer, true],
  [
    'nothing, paid by whoever claims a payment from elsewhere',
    { gateway: 'paddle' },
    { ...byPayer, amount: 0n },
    false,
  ],
  [
    'nothing, paid for what claims no payment',
    { gateway: 'paddle' },
    { payment: { providerReference: 'pi_1' }, amount: 0n },
    true,
  ],
  [
    'nothing, paid for a payment from elsewhere by its own name',
    { gateway: 'paddle' },
    { claimed: { id, by: 'payer' }, amount: 0n },
    true,
  ],
  [
    'a decline that claims a payment from elsewhere',
    { gateway: 'paddle' },
    { ...byPayer, status: 'failed' },
    false,
  ],
  [
    'a release of what began elsewhere',
    { checkout: 'none' },
    { status: 'canceled', ifOpenedHere: true },
    false,
  ],
  ['a decline of what is paid', { status: 'paid' }, { status: 'failed' }, false],
  [
    'a release of what is paid, where it may be about an earlier try',
    { status: 'paid' },
    { status: 'canceled', ifPaid: 'review' },
    true,
  ],
  [
    'a release of what is paid, which gave it back',
    { status: 'paid' },
    { status: 'canceled', ifPaid: 'refunded' },
    false,
  ],
  ['a cancellation of what has failed', { status: 'failed' }, { status: 'canceled' }, false],
]
for (const [what, of, stated, review] of reviews) {
  test(`${what} is ignored, and ${review ? 'a person' : 'nobody'} is asked`, () => {
    const decision = decide({ ...pending, ...of }, 'stripe', { ...paid, ...stated })
    assert.equal(decision.kind === 'ignore' && decision.review, review)
    assert.equal(decision.kind, 'ignore')
  })
}

test('a refund is told by the provider of its charge, and of no other charge', () => {
  const charge = { ...pending, status: 'paid', providerReference: 'pi_1' } as const
  const mismatchOf = (providerReference?: string, gateway = 'stripe') =>
    refundMismatch(charge, gateway, {
      type: 'refund',
      status: 'paid',
      payment: { id },
      refundedTotal: 1n,
      ...(providerReference !== undefined && { providerReference }),
    })
  assert.equal(mismatchOf(), undefined)
  assert.equal(mismatchOf('pi_1'), undefined)
  assert.equal(mismatchOf('pi_2'), 'provider_reference_mismatch')
  assert.equal(mismatchOf('pi_2', 'paddle'), 'gateway_mismatch')
})
