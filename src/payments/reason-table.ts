/**
 * When a person must look at a callback that is ignored. Other reports and exceptions:
 * docs/states.md, "Reasons".
 */
export type ReviewedWhen =
  | 'always'
  | 'of money'
  | 'if paid'
  | 'if paid, after a day'
  | 'if paid: by a renewal, or under the id of a refund'
  | 'if blocked money is released'
  | 'if a refund is paid after all, or canceled when it was paid; if a dispute is lost'

interface AnyReason {
  /** What a review says was found. Its money stands for `{stated}` and `{expected}`. */
  readonly review: string
  /** What a person does about the review. */
  readonly step: string
  /** The page and the heading of the docs that tell more. */
  readonly docs: string
}

/** Why a callback is ignored, and why a person must look, if one must. */
interface OfIgnored extends AnyReason {
  /** Why the callback changes nothing, in a sentence. */
  readonly callback: string
  readonly reviewed: ReviewedWhen
  /**
   * A gateway decides it, by the callback alone. It may say whether the report concerns money; this
   * holds if it does not.
   */
  readonly byGateway?: 'of money' | 'of no money'
  readonly isRecorded?: never
}

/** Why a person must always look, at what is applied or was never a callback. */
interface OfReview extends AnyReason {
  /** The fact is recorded, and a retry of the call does not change it. */
  readonly isRecorded?: true
  readonly callback?: never
  readonly reviewed?: never
  readonly byGateway?: never
}

export type Reason = OfIgnored | OfReview

const whose =
  "Find out whose money it is. Deliver what was paid for, or refund the money in the provider's dashboard."
const payer =
  "Find the payer in the provider's dashboard: they may have named a payment that is not theirs."
const moved =
  "Find it in the provider's dashboard. If money moved, correct your order or refund it."
const unread =
  "Find it in the provider's dashboard by its time. Replay the callback after an upgrade."
const compare = 'Compare the amounts before you deliver.'

/**
 * Every reason once. Lists, types, words and the tables of the docs follow from its rows. Their order
 * is the order of the API's document: add a row behind the last one of its kind.
 */
export const table = {
  unhandled_event: {
    callback: 'This version does not handle what the callback reports.',
    byGateway: 'of no money',
    reviewed: 'of money',
    review: 'money may have moved: this version does not handle what a callback reports',
    step: moved,
    docs: 'states.md#reasons',
  },
  no_outcome: {
    callback: 'The callback decides nothing about a payment.',
    byGateway: 'of no money',
    reviewed: 'of money',
    review: 'money may have moved: a callback says nothing that decides a payment',
    step: moved,
    docs: 'states.md#reasons',
  },
  unreadable_payload: {
    callback: 'The callback is genuine, but its body cannot be read.',
    byGateway: 'of money',
    reviewed: 'always',
    review: 'the body of a genuine callback cannot be read',
    step: `${unread} If its detail is "encrypted", set the encryption key that is missing, then replay.`,
    docs: 'states.md#reasons',
  },
  malformed_payload: {
    callback: 'The callback is genuine, but a field is missing or has an unknown form.',
    byGateway: 'of money',
    reviewed: 'of money',
    review: 'a field of a genuine callback is missing or has an unknown form',
    step: unread,
    docs: 'states.md#reasons',
  },
  invalid_reference: {
    callback: 'The callback names a payment by an id that no charge of this service can have.',
    byGateway: 'of no money',
    reviewed: 'if paid: by a renewal, or under the id of a refund',
    review: '{stated} was reported under an id that no charge of this service can have',
    step: payer,
    docs: 'states.md#reasons',
  },
  unknown_payment: {
    callback: 'The payment does not exist here. Once it does, the callback is processed again.',
    reviewed: 'if paid, after a day',
    review: '{stated} was reported for a payment that does not exist here',
    step: "Find out whose money it is. Create the payment under this id and replay the callback, or refund the money in the provider's dashboard.",
    docs: 'states.md#reasons',
  },
  gateway_mismatch: {
    callback: 'The payment was made for another gateway.',
    reviewed: 'if paid',
    review: '{stated} was reported for a payment of another gateway',
    step: `${whose} Check whether the secrets of two gateways are mixed up.`,
    docs: '3-gateways.md#several-accounts',
  },
  merchant_mismatch: {
    callback: 'The payment was made for another merchant account.',
    reviewed: 'if paid',
    review: '{stated} was reported for a payment of another merchant account',
    step: `${whose} Check whether the secrets of two accounts are mixed up.`,
    docs: '3-gateways.md#several-accounts',
  },
  mode_mismatch: {
    callback: 'The callback is a test and the payment is live, or the other way round.',
    reviewed: 'if paid',
    review: '{stated} was reported as a test for a live payment, or the other way round',
    step: `${whose} Check whether test and live secrets are mixed up.`,
    docs: 'states.md#reasons',
  },
  checkout_reference_mismatch: {
    callback: "The callback is about another checkout than the payment's.",
    reviewed: 'if paid',
    review: "{stated} was reported for another checkout than the payment's",
    step: whose,
    docs: 'states.md#reasons',
  },
  checkout_reference_unknown: {
    callback: 'Others can have written the payment id, and the payment has no such checkout.',
    reviewed: 'if paid',
    review: '{stated} was reported for a checkout that the payment is not known to have',
    step: whose,
    docs: '3-gateways.md#your-own-checkout',
  },
  provider_reference_mismatch: {
    callback: "The callback is about another charge than the payment's.",
    reviewed: 'if paid',
    review: "{stated} was reported for another charge than the payment's",
    step: whose,
    docs: 'states.md#refunds',
  },
  provider_reference_taken: {
    callback: 'The charge or checkout of the callback belongs to another payment already.',
    reviewed: 'always',
    review: '{stated} was reported for a charge that belongs to another payment already',
    step: whose,
    docs: 'states.md#reasons',
  },
  subscription_mismatch: {
    callback: 'The payment did not begin the subscription of the callback.',
    reviewed: 'if paid',
    review: '{stated} was reported for a subscription that the payment did not begin',
    step: payer,
    docs: 'states.md#renewals',
  },
  amount_mismatch: {
    callback: "The amount or the currency is not stated, or is not the payment's.",
    reviewed: 'always',
    review: '{stated} was reported, but {expected} was expected; the payment stays as it was',
    step: "Refund the money in the provider's dashboard, or correct your order.",
    docs: 'states.md#payments',
  },
  already_paid: {
    callback: 'The payment is paid already, and stays paid.',
    reviewed: 'if blocked money is released',
    review: 'blocked money was released, and it may be the money of this paid payment',
    step: "Check in the provider's dashboard whether the payment is still paid. If not, refund it, or correct your order.",
    docs: 'states.md#refunds',
  },
  already_paid_other_reference: {
    callback: 'The payment is paid already, by another charge.',
    reviewed: 'always',
    review: 'the payer paid twice: {stated} came as well',
    step: "Refund the charge that the review names, in the provider's dashboard. The other charge pays the payment.",
    docs: 'states.md#refunds',
  },
  already_settled: {
    callback: 'The payment, refund, dispute, card or subscription has ended already.',
    reviewed: 'if a refund is paid after all, or canceled when it was paid; if a dispute is lost',
    review: 'money moved after the payment or the refund had ended: {stated}',
    step: "Compare the payment and its refunds with the provider's dashboard.",
    docs: 'states.md#refunds',
  },
  paid_after_cancel: {
    isRecorded: true,
    review: 'the payment was canceled, and a report that may be old says that it is paid',
    step: "Check in the provider's dashboard whether the payment is still paid. Ask the provider what went back (quittance poll ID).",
    docs: 'states.md#refunds',
  },
  first_payment_unpaid: {
    review: 'a subscription was renewed, but its first payment is not paid',
    step: `After a trial this is correct. If the first payment is paid later, the review is closed. ${compare}`,
    docs: 'states.md#renewals',
  },
  another_subscription: {
    isRecorded: true,
    review: 'a charge names a first payment that began another subscription',
    step: payer,
    docs: 'states.md#renewals',
  },
  renewal_money_differs: {
    isRecorded: true,
    review: 'a renewal took {stated}, but {expected} was expected',
    step: `After a new price or a discount this is correct. ${compare}`,
    docs: 'states.md#renewals',
  },
  over_refund: {
    isRecorded: true,
    review: 'more money went back than was paid: refund {stated}, payment {expected}',
    step: "Compare the refunds of the payment with the provider's dashboard.",
    docs: 'states.md#refunds',
  },
  refund_of_unpaid: {
    review: '{stated} went back for a payment that is not paid here',
    step: 'Ask the provider about the payment (quittance poll ID). If it was paid, replay the callback. If not, find out what was refunded.',
    docs: 'states.md#refunds',
  },
  refund_returned: {
    isRecorded: true,
    review: 'a refund of {stated} failed after it had been paid',
    step: 'The payer did not get the money. Refund it in another way, or correct your order.',
    docs: 'states.md#refunds',
  },
  dispute_open: {
    isRecorded: true,
    review: "the payer's bank disputes {stated}",
    step: "Answer the dispute in the provider's dashboard before its deadline. Take back what you granted, if need be.",
    docs: 'states.md#disputes',
  },
  dispute_lost: {
    isRecorded: true,
    review: "the payer's bank took {stated} back: the dispute is lost",
    step: 'Take back what you granted.',
    docs: 'states.md#disputes',
  },
  call_failed: {
    review: 'a callback could not be processed, and is not tried again',
    step: 'The callback says why it failed. Correct the cause, then replay the callback.',
    docs: '5-operations.md#failed-calls',
  },
  poll_unclear: {
    review: 'the provider was asked about the payment, and its answer is not understood',
    step: "Look at the payment in the provider's dashboard.",
    docs: 'states.md#polls',
  },
  period_paid_twice: {
    review: 'a period of a subscription was paid twice',
    step: 'Refund one of the two payments (quittance refund ID).',
    docs: '13-subscriptions.md#subscriptions-that-the-provider-manages',
  },
  period_void: {
    review: 'a payment was made for a period of a subscription that is not owed',
    step: 'Refund the payment (quittance refund ID).',
    docs: 'states.md#subscriptions',
  },
  terms_mismatch: {
    review: 'the provider charges other terms than you sold: {stated}, but {expected} was expected',
    step: "Correct the price, the currency or the interval in the provider's dashboard, or cancel the subscription there.",
    docs: '13-subscriptions.md#subscriptions-that-the-provider-manages',
  },
  invoiced_twice: {
    review: 'both the provider and this service issued a document for a charge: {stated}',
    step: 'Void one of the two documents, or tell your accountant which one counts.',
    docs: '15-invoices.md#of-providers',
  },
} satisfies Readonly<Record<string, Reason>>
