import { isReviewReason, type ReviewReason } from '../../payments/review.ts'

const whose = 'Find out whose money it is. Deliver, or refund it in the dashboard of the provider.'
const compare = 'Compare the amounts before you deliver.'

/** What a person does about each reason; the reason itself is in `reviewWords`. */
export const reviewSteps: Readonly<Record<ReviewReason, string>> = {
  unhandled_event: 'Look at it in the dashboard of the provider: does money of yours move?',
  no_outcome: 'Look at it in the dashboard of the provider: does money of yours move?',
  unreadable_payload: 'Find it in the dashboard by its time. Replay the callback after an upgrade.',
  malformed_payload: 'Find it in the dashboard by its time. Replay the callback after an upgrade.',
  invalid_reference:
    'Find the buyer in the dashboard: they may have named a payment that is not theirs.',
  unknown_payment:
    'Find out whose money it is. Create the payment under this id and replay the callback, or refund it in the dashboard.',
  gateway_mismatch: `Check whether secrets of two gateways were mixed up. If not: ${whose}`,
  merchant_mismatch: `Check whether secrets of two accounts were mixed up. If not: ${whose}`,
  mode_mismatch: `Check whether secrets for tests and live ones were mixed up. If not: ${whose}`,
  checkout_reference_mismatch: whose,
  checkout_reference_unknown: whose,
  provider_reference_mismatch: whose,
  provider_reference_taken: whose,
  subscription_mismatch:
    'Find the buyer in the dashboard: they may have named a payment that is not theirs.',
  amount_mismatch: 'Refund it in the dashboard of the provider, or correct your order.',
  already_paid:
    'Look in the dashboard whether it is still paid. If not, refund it, or correct your order.',
  already_paid_other_reference:
    'Refund the charge that is named here, in the dashboard: the other one pays the payment.',
  already_settled: 'Compare the payment and its refunds with the dashboard of the provider.',
  paid_after_cancel:
    'Look in the dashboard whether it is still paid. To ask the provider now finds what went back.',
  first_payment_unpaid: `After a trial this is right. Otherwise: ${compare}`,
  another_subscription:
    'Find the buyer in the dashboard: they may have named a payment that is not theirs.',
  renewal_money_differs: `After a new price or a discount this is right. Otherwise: ${compare}`,
  over_refund: 'Compare the refunds of the payment with the dashboard of the provider.',
  refund_of_unpaid:
    'Ask the provider about the payment. If it was paid, replay the callback; else find out what was refunded.',
  refund_returned: 'The payer has nothing. Refund in another way, or correct your order.',
  dispute_open:
    'Answer it in the dashboard before its deadline. Take back what you granted, if need be.',
  dispute_lost: 'Take back what you granted.',
  call_failed: 'The callback says why it failed. Correct the cause, then replay it.',
  poll_unclear: 'Look at the payment in the dashboard of the provider.',
  period_paid_twice: 'Refund one of the two payments.',
  period_void: 'Refund the payment.',
  terms_mismatch:
    'Correct the price, the currency or the interval in the dashboard, or cancel the subscription there.',
  invoiced_twice: 'Void one of the two documents, or say to your accountant which counts.',
}

/** A later version may have written the reason. */
export function reviewStep(reason: string): string {
  return isReviewReason(reason)
    ? reviewSteps[reason]
    : 'This version does not know the reason. Look at the payment and the callback.'
}
