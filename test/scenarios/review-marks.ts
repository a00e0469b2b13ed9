import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { liqpay } from '../../src/gateways/liqpay/index.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { GatewayReason } from '../../src/payments/reasons.ts'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import {
  callbackAbout,
  keyOf,
  textAbout,
  wireOf,
  written,
  type Callback,
  type Changes,
} from '../spec/callbacks.ts'

/** A signed report of a gateway, and whether a person must look at it. */
export interface Report {
  readonly what: string
  readonly review: boolean
  readonly make: (payment: Payment) => Callback
  /** What the payment has besides. */
  readonly payment?: () => Partial<CreatePaymentInput>
}

/** Reports that a gateway ignores for one reason; a text: why it never does. */
export type Cell = readonly Report[] | string

const other = '"0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6eff"'
const foreign = '"order-7"'

const of =
  (scenario: string, changes: Changes = {}) =>
  (payment: Payment) =>
    callbackAbout(payment, { scenario, changes })
/** With whatever else has to be changed in the text. */
const texted = (scenario: string, change: (text: string) => string) => (payment: Payment) =>
  wireOf(payment.gateway).sign(change(textAbout(payment, scenario)), keyOf(payment.gateway))
const unreadable = (payment: Payment): Callback =>
  wireOf(payment.gateway).sign('{"id":', keyOf(payment.gateway))
const report =
  (review: boolean) =>
  (what: string, make: Report['make'], payment?: Report['payment']): Report => ({
    what,
    review,
    make,
    ...(payment !== undefined && { payment }),
  })
const person = report(true)
const nobody = report(false)

const withoutReference: Changes = { payment_id: undefined, client_reference_id: undefined }
const eventOf = (type: string) => (text: string) =>
  text.replace(/"type":\s*"checkout[^"]*"/, `"type":"${type}"`)

let made = 0
/** A transaction, or an intent, that the payment is known by. */
const transaction = () => ({ checkoutReference: `txn_01hv8gq3318ktkfengj2r75g${(made += 1)}` })
const intent = () => ({ providerReference: `pi_3PqReviewMarks${(made += 1)}` })
const elsewhere = (make: Report['make']) => (payment: Payment) =>
  make({ ...payment, checkoutReference: 'txn_01hv8gq3318ktkfengj2r75gother' })

/** hutko's protocol 2.0, whose signature covers a text, whatever is to be read in it. */
function enveloped(text: string, { gateway }: Payment): Callback {
  const data = Buffer.from(text).toString('base64')
  const signature = createHash('sha1')
    .update(`${keyOf(gateway)}|${data}`)
    .digest('hex')
  const body = JSON.stringify({ version: '2.0', data, signature })
  return { headers: { 'content-type': 'application/json' }, body }
}
/** An order with these fields written so. */
const envelope = (scenario: string, changes: Changes) => (payment: Payment) =>
  enveloped(`{"order":${written(textAbout(payment, scenario), changes)}}`, payment)

/** What the payer's browser gets of us to post to LiqPay: signed as LiqPay's callbacks are. */
function ownForm(payment: Payment): Callback {
  const checkout = liqpay.checkout
  assert.ok(checkout?.kind === 'form')
  const values = {
    LIQPAY_PRIVATE_KEY: keyOf('liqpay'),
    LIQPAY_PUBLIC_KEY: payment.merchantAccount ?? '',
  }
  const credentials = readCredentials(liqpay, values, { production: false })
  const urls = { callbackUrl: 'https://shop.example/a', returnUrl: 'https://shop.example/b' }
  const form = checkout.form(
    { payment, ...urls, expiresAt: new Date(0), saveCard: false, origin: 'https://shop.example' },
    credentials,
  )
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return { headers, body: new URLSearchParams({ ...form.fields }).toString() }
}

/** By gateway and reason: what ends in a review, and beside it what must not. */
export const marks: Readonly<Record<string, Readonly<Record<GatewayReason, Cell>>>> = {
  stripe: {
    unhandled_event: [
      nobody('an event of no concern', texted('paid', eventOf('customer.updated'))),
      person(
        'paid between the periods of our subscription',
        of('renewed', {
          billing_reason: '"subscription_update"',
          proration: 'true',
        }),
      ),
      nobody(
        'the same of a subscription that is not ours',
        of('renewed', {
          billing_reason: '"subscription_update"',
          proration: 'true',
          payment_id: other,
        }),
      ),
      person('a paid checkout of a mode that nobody knows', of('paid', { mode: '"donation"' })),
      nobody(
        'the same of a payment that is not ours',
        of('paid', {
          mode: '"donation"',
          payment_id: other,
          client_reference_id: other,
        }),
      ),
    ],
    no_outcome: [
      person('a checkout that is paid in part', of('paid', { payment_status: '"partially_paid"' })),
      person(
        'the same of a Payment Link',
        of('paid', { payment_status: '"partially_paid"', payment_id: undefined }),
      ),
      nobody(
        'the same of nobody we know',
        of('paid', {
          payment_status: '"partially_paid"',
          ...withoutReference,
        }),
      ),
      nobody('a slow method', of('pending')),
      person('a checkout that expired, and is paid', of('expired', { payment_status: '"paid"' })),
      person(
        'an intent that succeeded, and says otherwise',
        of('intent_paid', {
          status: '"requires_review"',
        }),
      ),
      person('a refund in a state that nobody knows', of('refunded', { status: '"held_back"' })),
      person(
        'a dispute in a state that nobody knows',
        of('disputed', { status: '"escalated"' }),
        intent,
      ),
      person(
        'a refund that nobody can find without the API',
        of('refunded', { payment_id: undefined, payment_intent: 'null' }),
      ),
      nobody(
        'the same, not done yet',
        of('refunded', { payment_id: undefined, payment_intent: 'null', status: '"pending"' }),
      ),
      nobody('an invoice of nothing', of('renewed', { amount_paid: '0', total: '0' })),
    ],
    unreadable_payload: [person('no JSON', unreadable)],
    malformed_payload: [
      person('a checkout with an unusual id', of('paid', { id: '"cs_тест"' })),
      person('an expanded intent', of('paid', { payment_intent: '["pi_1"]' })),
      nobody(
        'the same of nobody we know',
        of('paid', {
          payment_intent: '["pi_1"]',
          ...withoutReference,
        }),
      ),
      nobody('a checkout that expired', of('expired', { id: '"cs_тест"' })),
      nobody('a card', of('card_removed', { id: '"тест"' })),
    ],
    invalid_reference: [
      nobody(
        'a reference of another system',
        of('paid', {
          payment_id: foreign,
          client_reference_id: foreign,
        }),
      ),
    ],
  },
  paddle: {
    unhandled_event: [
      nobody('an event of no concern', of('paid', { event_type: '"customer.updated"' })),
      person(
        'an adjustment that nobody knows',
        of('refunded', { action: '"clawback"' }),
        transaction,
      ),
      nobody(
        'the same of a transaction that is not ours',
        elsewhere(of('refunded', { action: '"clawback"' })),
        transaction,
      ),
      nobody('a credit', of('refunded', { action: '"credit"' }), transaction),
      person('charged between the periods', of('paid', { origin: '"subscription_charge"' })),
    ],
    no_outcome: [
      person('paid, and says otherwise', of('paid', { status: '"strange"' }), transaction),
      person(
        'the same of a checkout that the page has opened',
        of('paid', { status: '"strange"' }),
      ),
      nobody('the same of nobody we know', of('paid', { status: '"strange"', payment_id: other })),
      nobody('canceled, and says otherwise', of('canceled', { status: '"strange"' }), transaction),
      nobody('a payer has a step to take', of('pending')),
      person(
        'a refund in a state that nobody knows',
        of('refunded', { status: '"held"' }),
        transaction,
      ),
      person(
        'a dispute in a state that nobody knows',
        of('disputed', { status: '"held"' }),
        transaction,
      ),
    ],
    unreadable_payload: [person('no JSON', unreadable)],
    malformed_payload: [
      person('a refund of no transaction', of('refunded', { transaction_id: '"тест"' })),
      nobody('a card', of('card_saved', { customer_id: '"тест"' })),
    ],
    invalid_reference: [
      nobody('a reference of another system', of('paid', { payment_id: foreign })),
    ],
  },
  monobank: {
    unhandled_event: [
      person('a status that nobody knows', of('paid', { status: '"blocked"' })),
      nobody(
        'the same of another system',
        of('paid', { status: '"blocked"', invoiceId: '"p2_elsewhere"', reference: other }),
      ),
    ],
    no_outcome: [nobody('an invoice that was made', of('pending'))],
    unreadable_payload: [person('no JSON', unreadable)],
    malformed_payload: [person('an unusual id', of('paid', { invoiceId: '"тест"' }))],
    invalid_reference: [
      nobody('a reference of another system', of('paid', { reference: foreign })),
    ],
  },
  liqpay: {
    unhandled_event: [
      person('a status that nobody knows', of('paid', { status: '"wait_magic"' })),
      nobody('the same of another order', of('paid', { status: '"wait_magic"', order_id: other })),
      person('paid in a way that nobody knows', of('paid', { action: '"p2p"' })),
      nobody('refused in a way that nobody knows', of('declined', { action: '"p2p"' })),
      nobody('a subscription that ended', of('paid', { status: '"unsubscribed"' })),
    ],
    no_outcome: [nobody('a step of the bank', of('pending'))],
    unreadable_payload: [person('no JSON', unreadable)],
    malformed_payload: [
      person('paid without a number', of('paid', { payment_id: '"тест"' })),
      nobody('declined without a number', of('declined', { payment_id: '"тест"' })),
      person('no version', of('paid', { version: '4' })),
      person('a status of another kind', of('paid', { status: '7' })),
      nobody('our own form, which its payer sends back to us', ownForm),
    ],
    invalid_reference: [nobody('an order of another system', of('paid', { order_id: foreign }))],
  },
  wayforpay: {
    unhandled_event: [
      person('a status that nobody knows', of('paid', { transactionStatus: '"Settled"' })),
      nobody(
        'the same of another order',
        of('paid', {
          transactionStatus: '"Settled"',
          orderReference: other,
        }),
      ),
    ],
    no_outcome: [
      person('approved with another code', of('paid', { reasonCode: '1101' })),
      person('declined, and all is well', of('declined', { reasonCode: '1100' })),
      nobody(
        'approved with another code, of another order',
        of('paid', {
          reasonCode: '1101',
          orderReference: other,
        }),
      ),
      nobody('a payer has a step to take', of('awaiting')),
      nobody('blocked money', of('held')),
    ],
    unreadable_payload: 'the signature is in the body: what cannot be read is refused',
    malformed_payload: 'the signature is over every field that is read: they are refused',
    invalid_reference: [
      nobody('an order of another system', of('paid', { orderReference: foreign })),
    ],
  },
  hutko: {
    unhandled_event: [
      person('a status that nobody knows', of('paid', { order_status: '"settled"' })),
      person('an operation that nobody knows', of('paid', { tran_type: '"capture"' })),
      nobody('the same of another order', of('paid', { tran_type: '"capture"', order_id: other })),
    ],
    no_outcome: [
      person(
        'a capture that nobody knows',
        texted('held', (text) => text.replace('hold', 'x')),
      ),
      nobody('blocked money', of('held')),
      nobody('in progress', of('pending')),
      nobody('a card that was checked', of('declined', { tran_type: '"verification"' })),
    ],
    unreadable_payload: [
      person('an envelope of no JSON', (payment) => enveloped('{"order":', payment)),
    ],
    malformed_payload: [
      person('a sum that is none', envelope('paid', { reversal_amount: '"all"' })),
      nobody(
        'an order that nobody tried to pay, and that has run out',
        envelope('expired', { payment_id: '""' }),
      ),
    ],
    invalid_reference: [nobody('an order of another system', of('paid', { order_id: foreign }))],
  },
  fake: {
    unhandled_event: 'it has one event',
    no_outcome: 'it has two results',
    unreadable_payload: 'it is told what is wrong: 422',
    malformed_payload: 'it is told what is wrong: 422',
    invalid_reference: [
      nobody('no UUID', () => ({
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ payment_id: 'order-7', result: 'success' }),
      })),
    ],
  },
}
