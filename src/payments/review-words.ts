import { moneyText, type Money } from '../kernel/money.ts'
import { isReviewReason, statedText, type Review, type ReviewReason } from './review.ts'

/** Each reason in words; what was stated and expected is put into the braces. */
export const reviewWords: Readonly<Record<ReviewReason, string>> = {
  unhandled_event: 'money may be in a callback of a kind that is not handled',
  no_outcome: 'money may be in a callback that says nothing we understand',
  unreadable_payload: 'a signed callback could not be read',
  malformed_payload: 'a signed callback lacks what its format requires',
  invalid_reference: '{stated} of a payment that is not named as we name ours',
  unknown_payment: '{stated} of a payment that does not exist here',
  gateway_mismatch: '{stated} for a payment of another gateway',
  merchant_mismatch: '{stated} in another account than the payment was made for',
  mode_mismatch: '{stated} in another mode, live or test, than the payment was made for',
  checkout_reference_mismatch: '{stated} in another checkout than the one of this payment',
  checkout_reference_unknown: '{stated} in a checkout that is not known to be of this payment',
  provider_reference_mismatch: '{stated} under another id than the provider gave for this payment',
  provider_reference_taken: '{stated} under an id that pays another payment already',
  subscription_mismatch: '{stated} in a subscription that this payment did not begin',
  amount_mismatch: '{stated}, {expected}; the payment stays as it was',
  already_paid: 'money was released or given back that may be that of this paid payment',
  already_paid_other_reference: 'paid twice: {stated} as well; refund one at the provider',
  already_settled: 'money moved after this was settled: {stated}',
  paid_after_cancel: 'paid after it was canceled, by a report that may be out of date',
  first_payment_unpaid: 'renewed, but never paid at first: right after a trial',
  another_subscription: 'renewed by a subscription that its first payment did not begin',
  renewal_money_differs: 'renewed for other money than the first time: {stated}, {expected}',
  over_refund: 'more went back than was paid: {stated}, {expected}',
  refund_of_unpaid: 'money went back of a payment that is not paid here: {stated}',
  refund_returned: 'a refund came back: {stated}',
  dispute_open: "the payer's bank takes the money back: {stated}",
  dispute_lost: "the payer's bank took the money back: {stated}",
  call_failed: 'a callback has failed for good: fix the cause, then replay it',
  poll_unclear: 'the provider was asked, and its answer is not understood',
  period_paid_twice: 'a period was paid twice: {stated} as well; refund one',
  period_void: 'money for a period that is void: {stated}; refund it',
  terms_mismatch:
    'the provider charges for a subscription otherwise than sold: {stated}, {expected}',
  invoiced_twice: 'the provider has issued a document, {stated}, and we another one',
}

/** What a person must look at, in words. */
export function inWords(review: Pick<Review, 'reason' | 'detail' | 'stated' | 'expected'>): string {
  const { reason, detail, stated, expected } = review
  // A later version may have written it.
  const words = isReviewReason(reason) ? reviewWords[reason] : reason
  const said = words.replaceAll(/\{stated\}|\{expected\}/g, (place) =>
    place === '{stated}' ? statedText(stated) : expectedText(expected),
  )
  return detail === null ? said : `${said} (${detail})`
}

function expectedText(expected: Money | null): string {
  return `${expected === null ? 'other money' : moneyText(expected)} expected`
}
