import type { Scenario } from '../../scenario.ts'
import { sampleDispute } from './dispute.ts'
import type { SampleChange, SampleInput } from './event.ts'
import { sampleIntent } from './intent.ts'
import { sampleFirst, sampleRenewal } from './invoice.ts'
import { customerId, sampleMethod, sampleSetup } from './payment-method.ts'
import { sampleRefund } from './refund.ts'
import { sampleSession } from './session.ts'
import { sampleMonthly } from './subscription.ts'

export interface Sample extends Scenario {
  readonly name: string
  readonly type: string
  readonly object: (input: SampleInput) => object
  readonly previous?: (input: SampleInput) => object
}

const checkouts: readonly Sample[] = [
  {
    name: 'paid',
    shows: 'the checkout is completed and paid by card',
    means: ['payment:paid'],
    type: 'checkout.session.completed',
    object: (input) =>
      sampleSession(input, { status: 'complete', paymentStatus: 'paid', method: 'card' }),
  },
  {
    name: 'intent_paid',
    shows: 'the payment intent of the checkout succeeded',
    means: ['payment:paid'],
    type: 'payment_intent.succeeded',
    object: (input) => sampleIntent(input, 'succeeded'),
  },
  {
    name: 'async_paid',
    shows: 'a bank debit arrived, days after the checkout',
    means: ['payment:paid'],
    type: 'checkout.session.async_payment_succeeded',
    object: (input) =>
      sampleSession(input, { status: 'complete', paymentStatus: 'paid', method: 'sepa_debit' }),
  },
  {
    name: 'async_failed',
    shows: 'a bank debit was refused, days after the checkout',
    means: ['payment:failed'],
    type: 'checkout.session.async_payment_failed',
    object: (input) =>
      sampleSession(input, { status: 'complete', paymentStatus: 'unpaid', method: 'sepa_debit' }),
  },
  {
    name: 'expired',
    shows: 'the checkout expired unpaid',
    means: ['payment:canceled'],
    type: 'checkout.session.expired',
    object: (input) =>
      sampleSession(input, { status: 'expired', paymentStatus: 'unpaid', method: 'card' }),
  },
]

const intents: readonly Sample[] = [
  {
    name: 'declined',
    shows: 'the card was declined; the same checkout may still be paid',
    means: ['payment:failed'],
    type: 'payment_intent.payment_failed',
    object: (input) => sampleIntent(input, 'requires_payment_method'),
  },
  {
    name: 'canceled',
    shows: 'the payment intent was canceled',
    means: ['payment:canceled'],
    type: 'payment_intent.canceled',
    object: (input) => sampleIntent(input, 'canceled'),
  },
  {
    name: 'pending',
    shows: 'a bank debit is on its way: nothing is decided',
    means: ['ignored:no_outcome'],
    type: 'payment_intent.processing',
    object: (input) => sampleIntent(input, 'processing'),
  },
]

const refunds: readonly Sample[] = [
  {
    name: 'refunded',
    shows: 'the whole amount is refunded',
    means: ['refund:paid'],
    type: 'refund.created',
    object: (input) => sampleRefund(input, { suffix: '', amount: input.amount }),
  },
  {
    name: 'refunded_half',
    shows: 'half of the amount is refunded',
    means: ['refund:paid half'],
    type: 'refund.created',
    object: (input) => sampleRefund(input, { suffix: 'half', amount: input.amount / 2n }),
  },
  {
    name: 'refunded_rest',
    shows: 'the other half is refunded, after a wait at the bank',
    means: ['refund:paid rest'],
    type: 'refund.updated',
    object: (input) =>
      sampleRefund(input, { suffix: 'rest', amount: input.amount - input.amount / 2n }),
    previous: () => ({ status: 'pending' }),
  },
  {
    name: 'disputed',
    shows: 'the payer takes the payment back through the bank',
    means: ['dispute:open'],
    type: 'charge.dispute.created',
    object: sampleDispute,
  },
]

const cards: readonly Sample[] = [
  {
    name: 'card_saved',
    shows: 'a card is attached to a customer',
    means: ['payment_method:attached'],
    type: 'payment_method.attached',
    object: (input) => sampleMethod(input, customerId(input)),
  },
  {
    name: 'card_removed',
    shows: 'the card is detached from its customer',
    means: ['payment_method:detached'],
    type: 'payment_method.detached',
    object: (input) => sampleMethod(input, null),
    previous: (input) => ({ customer: customerId(input) }),
  },
  {
    name: 'setup',
    shows: 'a card is saved without a payment',
    means: ['payment_method:attached'],
    type: 'setup_intent.succeeded',
    object: sampleSetup,
  },
]

const renewals: readonly Sample[] = [
  {
    name: 'renewed',
    shows: 'the subscription that the payment began is paid for another month',
    means: ['payment:paid', 'invoice:paid'],
    type: 'invoice.paid',
    object: (input) => sampleRenewal(input, 'paid'),
  },
]

const subscriptions: readonly Sample[] = [
  {
    name: 'first_invoice_paid',
    shows: 'the first month of the subscription that the payment begins is paid',
    means: ['payment:paid', 'invoice:paid'],
    type: 'invoice.paid',
    object: (input) => sampleFirst(input, 'paid'),
  },
  {
    name: 'invoice_issued',
    shows: 'the invoice of its first month has its number',
    means: ['invoice:issued'],
    type: 'invoice.finalized',
    object: (input) => sampleFirst(input, 'open'),
  },
  {
    name: 'renewal_failed',
    shows: 'another month could not be charged: whether it failed is looked up',
    means: 'looked up',
    type: 'invoice.payment_failed',
    object: (input) => sampleRenewal(input, 'open'),
  },
  {
    name: 'subscription_created',
    shows: 'the subscription that the payment began exists: how it stands is looked up',
    means: 'looked up',
    type: 'customer.subscription.created',
    object: (input) => sampleMonthly(input, 'active'),
  },
  {
    name: 'subscription_canceled',
    shows: 'it has ended: how it stands is looked up',
    means: 'looked up',
    type: 'customer.subscription.deleted',
    object: (input) => sampleMonthly(input, 'canceled'),
  },
]

/** All kinds of test callbacks, the usual one first. */
export const scenarios: readonly Sample[] = [
  ...checkouts,
  ...intents,
  ...refunds,
  ...cards,
  ...renewals,
  ...subscriptions,
]

/** The object of a scenario, with what its event adds. */
export function changeOf({ type, object, previous }: Sample, input: SampleInput): SampleChange {
  return {
    type,
    object: object(input),
    ...(previous !== undefined && { previous: previous(input) }),
  }
}
