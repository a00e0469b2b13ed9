import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { PaymentOutcome } from './outcome.ts'
import { paymentStatuses, type Payment, type PaymentStatus } from './payment.ts'
import { reasons } from './reasons.ts'
import { decide } from './transition.ts'
import { pendingPayment } from '../../test/support/pending-payment.ts'

const id = '7c9e6679-7425-40de-944b-e07fc1f90ae7'

const payment = (fields: Partial<Payment> = {}) =>
  pendingPayment({ id, gateway: 'stripe', ...fields })

function outcome(fields: Partial<PaymentOutcome> = {}): PaymentOutcome {
  return {
    type: 'payment',
    payment: { id },
    status: 'paid',
    amount: 4999n,
    currency: 'USD',
    ...fields,
  }
}

const decisionOf = (of: Payment, stated: PaymentOutcome) => {
  const decision = decide(of, 'stripe', stated)
  return decision.kind === 'ignore' ? decision.reason : decision.kind
}

const table: readonly [PaymentStatus, PaymentOutcome['status'], string][] = [
  ['pending', 'paid', 'move'],
  ['pending', 'failed', 'move'],
  ['pending', 'canceled', 'move'],
  ['failed', 'paid', 'move'],
  ['failed', 'failed', 'confirm'],
  ['failed', 'canceled', 'already_settled'],
  ['canceled', 'paid', 'move'],
  ['canceled', 'failed', 'already_settled'],
  ['canceled', 'canceled', 'confirm'],
  ['paid', 'paid', 'confirm'],
  ['paid', 'failed', 'already_paid'],
  ['paid', 'canceled', 'already_paid'],
]
for (const [from, to, expected] of table) {
  test(`${from} + ${to} -> ${expected}`, () => {
    assert.equal(decisionOf(payment({ status: from }), outcome({ status: to })), expected)
  })
}

const claimed = (by: 'payer' | 'anybody'): Partial<PaymentOutcome> => ({
  payment: { checkoutReference: 'cs_1' },
  checkoutReference: 'cs_1',
  claimed: { id, by },
})

const bindings: readonly [string, Partial<Payment>, Partial<PaymentOutcome>, string][] = [
  ['another gateway', { gateway: 'paddle' }, {}, 'gateway_mismatch'],
  ['a refund row', { type: 'refund' }, {}, 'invalid_reference'],
  ['another account', { merchantAccount: 'a' }, { merchantAccount: 'b' }, 'merchant_mismatch'],
  ['an account where none is known', {}, { merchantAccount: 'b' }, 'merchant_mismatch'],
  ['no account where one is known', { merchantAccount: 'a' }, {}, 'merchant_mismatch'],
  ['test mode for a live payment', { live: true }, { live: false }, 'mode_mismatch'],
  ['any mode while none is known', { live: null }, { live: false }, 'move'],
  [
    'another checkout',
    { checkoutReference: 'cs_1' },
    { checkoutReference: 'cs_2' },
    'checkout_reference_mismatch',
  ],
  [
    'another charge',
    { providerReference: 'pi_1' },
    { providerReference: 'pi_2' },
    'provider_reference_mismatch',
  ],
  [
    'a second charge of a paid payment',
    { status: 'paid', providerReference: 'pi_1' },
    { providerReference: 'pi_2' },
    'already_paid_other_reference',
  ],
  [
    'a decline of another charge of a paid payment',
    { status: 'paid', providerReference: 'pi_1' },
    { status: 'failed', providerReference: 'pi_2' },
    'provider_reference_mismatch',
  ],
  ['no ids of its own', { checkoutReference: 'cs_1', providerReference: 'pi_1' }, {}, 'move'],
  [
    'the id of another payment',
    {},
    { payment: { id: 'bf2d1a0c-93f7-4c44-8a57-61f0d2b3c9e5' } },
    'checkout_reference_unknown',
  ],
  ['its own ids', { checkoutReference: 'cs_1' }, { checkoutReference: 'cs_1' }, 'move'],
  ['a checkout that anybody could claim', {}, claimed('anybody'), 'checkout_reference_unknown'],
  ['a checkout that its payer claims', {}, claimed('payer'), 'move'],
  [
    'a decline of a checkout that its payer claims',
    {},
    { ...claimed('payer'), status: 'failed' },
    'checkout_reference_unknown',
  ],
  [
    'an end of a checkout that its payer claims',
    {},
    { ...claimed('payer'), status: 'canceled' },
    'checkout_reference_unknown',
  ],
  [
    'a claim where another checkout is known',
    { checkoutReference: 'cs_2' },
    claimed('payer'),
    'checkout_reference_mismatch',
  ],
  [
    'a claim that names no charge where one is known',
    { providerReference: 'pi_1' },
    claimed('payer'),
    'provider_reference_mismatch',
  ],
  [
    'a claim that names no checkout where one is known',
    { checkoutReference: 'cs_2' },
    {
      payment: { providerReference: 'pi_1' },
      providerReference: 'pi_1',
      claimed: { id, by: 'payer' },
    },
    'checkout_reference_mismatch',
  ],
  [
    'a claim with the known charge',
    { providerReference: 'pi_1' },
    { ...claimed('payer'), providerReference: 'pi_1' },
    'move',
  ],
  [
    'a claim that names a charge alone, where no id is known',
    {},
    {
      payment: { providerReference: 'pi_1' },
      providerReference: 'pi_1',
      claimed: { id, by: 'payer' },
    },
    'move',
  ],
  [
    'a claim with the known checkout',
    { checkoutReference: 'cs_1' },
    {
      payment: { providerReference: 'pi_1' },
      providerReference: 'pi_1',
      checkoutReference: 'cs_1',
      claimed: { id, by: 'payer' },
    },
    'move',
  ],
  [
    'the known checkout, whatever is claimed',
    { checkoutReference: 'cs_1' },
    { ...claimed('anybody'), status: 'failed' },
    'move',
  ],
  [
    'the known charge, whatever is claimed',
    { providerReference: 'pi_1' },
    {
      payment: { providerReference: 'pi_1' },
      status: 'failed',
      claimed: { id, by: 'anybody' },
    },
    'move',
  ],
  [
    'a release that holds of what we began only, which began elsewhere',
    { checkout: 'none' },
    { status: 'canceled', ifOpenedHere: true },
    'no_outcome',
  ],
  [
    'a release that holds of what we began only, which began in our checkout',
    { checkout: 'open' },
    { status: 'canceled', ifOpenedHere: true },
    'move',
  ],
  [
    'a release that holds of what we began only, which began with our charge of a card',
    { paymentMethodId: id },
    { status: 'canceled', ifOpenedHere: true },
    'move',
  ],
]
test('a person looks at what does not fit as the table of reasons says', () => {
  for (const [what, of, stated] of bindings) {
    for (const status of ['paid', 'failed', 'canceled'] as const) {
      const decision = decide(payment(of), 'stripe', outcome({ ...stated, status }))
      if (decision.kind !== 'ignore') continue
      const { reviewed = '' } = reasons[decision.reason]
      const isDue = reviewed === 'always' || (status === 'paid' && reviewed.startsWith('if paid'))
      assert.equal(decision.review, isDue, `${what}, ${status}: ${decision.reason}`)
    }
  }
})

for (const [what, of, stated, expected] of bindings) {
  test(`a callback with ${what} -> ${expected}`, () => {
    assert.equal(decisionOf(payment(of), outcome(stated)), expected)
  })
}

const charges: readonly [string, Partial<PaymentOutcome>, string][] = [
  ['the same money', {}, 'move'],
  ['another currency', { currency: 'UAH' }, 'amount_mismatch'],
  ['one minor unit less', { amount: 4998n }, 'amount_mismatch'],
  ['one minor unit more', { amount: 5000n }, 'amount_mismatch'],
  ['the same money, though it may name none', { amountIs: 'as_charged' }, 'move'],
  ['less, though it may name none', { amountIs: 'as_charged', amount: 1n }, 'amount_mismatch'],
]
for (const [what, stated, expected] of charges) {
  test(`a paid callback that names ${what} -> ${expected}`, () => {
    assert.equal(decisionOf(payment(), outcome(stated)), expected)
  })
}

test('a paid callback that names no money settles only where it need not', () => {
  const silent: PaymentOutcome = { type: 'payment', payment: { id }, status: 'paid' }
  assert.equal(decisionOf(payment(), silent), 'amount_mismatch')
  assert.equal(decisionOf(payment(), { ...silent, amountIs: 'as_charged' }), 'move')
})

test('for every amount and currency that differ: never paid, and a person is asked', () => {
  fc.assert(
    fc.property(
      fc.option(fc.bigInt({ min: 0n, max: 10n ** 15n }), { nil: undefined }),
      fc.option(fc.constantFrom('USD', 'UAH', 'usd', 'USD '), { nil: undefined }),
      fc.constantFrom(...paymentStatuses),
      (amount, currency, status) => {
        fc.pre(amount !== 4999n || currency !== 'USD')
        const stated: PaymentOutcome = {
          type: 'payment',
          payment: { id },
          status: 'paid',
          ...(amount !== undefined && { amount }),
          ...(currency !== undefined && { currency }),
        }
        assert.deepEqual(decide(payment({ status }), 'stripe', stated), {
          kind: 'ignore',
          reason: 'amount_mismatch',
          review: true,
        })
      },
    ),
  )
})

test('whatever a callback claims, a paid payment is never moved', () => {
  fc.assert(
    fc.property(
      fc.record({
        status: fc.constantFrom('paid', 'failed', 'canceled'),
        amount: fc.bigInt({ min: 0n, max: 5000n }),
        currency: fc.constantFrom('USD', 'UAH'),
        live: fc.boolean(),
        providerReference: fc.constantFrom('pi_1', 'pi_2'),
      }),
      (stated) => {
        const paid = payment({ status: 'paid', providerReference: 'pi_1' })
        assert.notEqual(decide(paid, 'stripe', outcome(stated)).kind, 'move')
      },
    ),
  )
})
