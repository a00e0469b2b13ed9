import { sampleDispute } from './dispute.ts'
import type { SampleChange, SampleInput } from './event.ts'
import { sampleIntent } from './intent.ts'
import { sampleRenewal } from './invoice.ts'
import { customerId, sampleMethod, sampleSetup } from './payment-method.ts'
import { sampleRefund } from './refund.ts'
import { sampleSession } from './session.ts'

/** A kind of test callback. */
export interface Scenario {
  readonly name: string
  readonly shows: string
  readonly type: string
  readonly object: (input: SampleInput) => object
  readonly previous?: (input: SampleInput) => object
}

const checkouts: readonly Scenario[] = [
  {
    name: 'paid',
    shows: 'the checkout is completed and paid by card',
    type: 'checkout.session.completed',
    object: (input) =>
      sampleSession(input, { status: 'complete', paymentStatus: 'paid', method: 'card' }),
  },
  {
    name: 'intent_paid',
    shows: 'the payment intent of the checkout succeeded',
    type: 'payment_intent.succeeded',
    object: (input) => sampleIntent(input, 'succeeded'),
  },
  {
    name: 'async_paid',
    shows: 'a bank debit arrived, days after the checkout',
    type: 'checkout.session.async_payment_succeeded',
    object: (input) =>
      sampleSession(input, { status: 'complete', paymentStatus: 'paid', method: 'sepa_debit' }),
  },
  {
    name: 'async_failed',
    shows: 'a bank debit was refused, days after the checkout',
    type: 'checkout.session.async_payment_failed',
    object: (input) =>
      sampleSession(input, { status: 'complete', paymentStatus: 'unpaid', method: 'sepa_debit' }),
  },
  {
    name: 'expired',
    shows: 'the checkout expired unpaid',
    type: 'checkout.session.expired',
    object: (input) =>
      sampleSession(input, { status: 'expired', paymentStatus: 'unpaid', method: 'card' }),
  },
]

const intents: readonly Scenario[] = [
  {
    name: 'declined',
    shows: 'the card was declined; the same checkout may still be paid',
    type: 'payment_intent.payment_failed',
    object: (input) => sampleIntent(input, 'requires_payment_method'),
  },
  {
    name: 'canceled',
    shows: 'the payment intent was canceled',
    type: 'payment_intent.canceled',
    object: (input) => sampleIntent(input, 'canceled'),
  },
  {
    name: 'pending',
    shows: 'a bank debit is on its way: nothing is decided',
    type: 'payment_intent.processing',
    object: (input) => sampleIntent(input, 'processing'),
  },
]

const refunds: readonly Scenario[] = [
  {
    name: 'refunded',
    shows: 'the whole amount is refunded',
    type: 'refund.created',
    object: (input) => sampleRefund(input, { suffix: '', amount: input.amount }),
  },
  {
    name: 'refunded_half',
    shows: 'half of the amount is refunded',
    type: 'refund.created',
    object: (input) => sampleRefund(input, { suffix: 'half', amount: input.amount / 2n }),
  },
  {
    name: 'refunded_rest',
    shows: 'the other half is refunded, after a wait at the bank',
    type: 'refund.updated',
    object: (input) =>
      sampleRefund(input, { suffix: 'rest', amount: input.amount - input.amount / 2n }),
    previous: () => ({ status: 'pending' }),
  },
  {
    name: 'disputed',
    shows: 'the payer takes the payment back through the bank',
    type: 'charge.dispute.created',
    object: sampleDispute,
  },
]

const cards: readonly Scenario[] = [
  {
    name: 'card_saved',
    shows: 'a card is attached to a customer',
    type: 'payment_method.attached',
    object: (input) => sampleMethod(input, customerId(input)),
  },
  {
    name: 'card_removed',
    shows: 'the card is detached from its customer',
    type: 'payment_method.detached',
    object: (input) => sampleMethod(input, null),
    previous: (input) => ({ customer: customerId(input) }),
  },
  {
    name: 'setup',
    shows: 'a card is saved without a payment',
    type: 'setup_intent.succeeded',
    object: sampleSetup,
  },
]

const renewals: readonly Scenario[] = [
  {
    name: 'renewed',
    shows: 'the subscription that the payment began is paid for another month',
    type: 'invoice.paid',
    object: sampleRenewal,
  },
]

/** All kinds of test callbacks, the usual one first. */
export const scenarios: readonly Scenario[] = [
  ...checkouts,
  ...intents,
  ...refunds,
  ...cards,
  ...renewals,
]

/** The object of a scenario, with what its event says besides. */
export function changeOf({ type, object, previous }: Scenario, input: SampleInput): SampleChange {
  return {
    type,
    object: object(input),
    ...(previous !== undefined && { previous: previous(input) }),
  }
}
