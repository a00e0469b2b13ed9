import {
  chargedAsIs,
  saysPaid,
  type AccountStatement,
  type PaymentOutcome,
  type PaymentReference,
  type RefundOutcome,
} from './outcome.ts'
import type { Payment } from './payment.ts'
import type { IgnoredReason } from './reasons.ts'

/**
 * What an outcome does to a payment:
 * - `move`: the payment takes the outcome's status, and the event is claimed and dispatched;
 * - `confirm`: it has that status already; the event is dispatched if it is not claimed yet;
 * - `ignore`: nothing changes. `review`: a person should look, money may be involved.
 */
export type Decision =
  | { readonly kind: 'move' }
  | { readonly kind: 'confirm' }
  | { readonly kind: 'ignore'; readonly reason: IgnoredReason; readonly review: boolean }

/** The state table: the only place that knows which status may follow which. */
export function decide(payment: Payment, gateway: string, outcome: PaymentOutcome): Decision {
  const mismatch = bindingMismatch(payment, gateway, outcome)
  // A paid callback that we must not apply may still be money that was taken.
  const isOwn = goesBy(payment, outcome.payment)
  const review = isOwn ? outcome.status === 'paid' : saysPaid(outcome)
  if (mismatch !== undefined) return ignore(mismatch, review)
  if (outcome.ifOpenedHere === true && !isOpenedHere(payment)) return ignore('no_outcome', false)
  if (outcome.status !== 'paid') return decideUnpaid(payment, outcome)
  if (!coversCharge(payment, outcome)) return ignore('amount_mismatch', review)
  return payment.status === 'paid' ? { kind: 'confirm' } : { kind: 'move' }
}

function isOpenedHere({ checkout, paymentMethodId }: Payment): boolean {
  return checkout !== 'none' || paymentMethodId !== null
}

function coversCharge(payment: Payment, outcome: PaymentOutcome): boolean {
  if (chargedAsIs(outcome)) return true
  return outcome.amount === payment.amount && outcome.currency === payment.currency
}

function decideUnpaid(payment: Payment, outcome: PaymentOutcome): Decision {
  if (payment.status === 'paid') return ignore('already_paid', outcome.ifPaid === 'review')
  if (payment.status === outcome.status) return { kind: 'confirm' }
  if (payment.status !== 'pending') return ignore('already_settled', false)
  return { kind: 'move' }
}

/** Whether a statement about a charge comes from its gateway, merchant account and mode. */
export function accountMismatch(
  payment: Payment,
  gateway: string,
  statement: AccountStatement,
): IgnoredReason | undefined {
  if (payment.gateway !== gateway) return 'gateway_mismatch'
  // A refund row is not a charge: only refund outcomes move it, and nothing is refunded from it.
  if (payment.type !== 'charge') return 'invalid_reference'
  if (payment.merchantAccount !== (statement.merchantAccount ?? null)) return 'merchant_mismatch'
  return differ(payment.live, statement.live) ? 'mode_mismatch' : undefined
}

/** Whether a refund comes from the gateway, account and mode of its charge, and belongs to it. */
export function refundMismatch(
  charge: Payment,
  gateway: string,
  outcome: RefundOutcome,
): IgnoredReason | undefined {
  const mismatch = accountMismatch(charge, gateway, outcome)
  if (mismatch !== undefined) return mismatch
  // A second charge may name the same payment: its refund takes nothing from the first one.
  const isOther = differ(charge.providerReference, outcome.providerReference)
  return isOther ? 'provider_reference_mismatch' : undefined
}

/**
 * A signature says who signed, not what about: the callback must come from the gateway, the
 * merchant account, the mode and the provider's object that the payment was made for.
 */
function bindingMismatch(
  payment: Payment,
  gateway: string,
  outcome: PaymentOutcome,
): IgnoredReason | undefined {
  const mismatch = accountMismatch(payment, gateway, outcome)
  if (mismatch !== undefined) return mismatch
  if (differ(payment.checkoutReference, outcome.checkoutReference)) {
    return 'checkout_reference_mismatch'
  }
  if (differ(payment.providerReference, outcome.providerReference)) {
    return payment.status === 'paid' && outcome.status === 'paid'
      ? 'already_paid_other_reference'
      : 'provider_reference_mismatch'
  }
  return goesBy(payment, outcome.payment) ? undefined : claimMismatch(payment, outcome)
}

/** Whether the payment is named in this way. */
export function goesBy(payment: Payment, reference: PaymentReference): boolean {
  if ('id' in reference) return payment.id === reference.id
  return 'checkoutReference' in reference
    ? payment.checkoutReference === reference.checkoutReference
    : payment.providerReference === reference.providerReference
}

/**
 * What speaks against a payment that is only claimed. Paying it takes nothing from anybody. But a
 * decline of some other checkout must not fail it, nor may the claim replace the provider's ids.
 */
function claimMismatch(
  { checkoutReference, providerReference }: Payment,
  { claimed, status, ...stated }: PaymentOutcome,
): IgnoredReason | undefined {
  if (checkoutReference !== null && stated.checkoutReference === undefined) {
    return 'checkout_reference_mismatch'
  }
  if (providerReference !== null && stated.providerReference === undefined) {
    return 'provider_reference_mismatch'
  }
  return claimed?.by === 'payer' && status === 'paid' ? undefined : 'checkout_reference_unknown'
}

function differ<T>(known: T | null, stated: T | undefined): boolean {
  return known !== null && stated !== undefined && known !== stated
}

function ignore(reason: IgnoredReason, review: boolean): Decision {
  return { kind: 'ignore', reason, review }
}
