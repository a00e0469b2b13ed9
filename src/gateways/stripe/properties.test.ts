import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Outcome } from '../../payments/outcome.ts'
import { method } from '../../../test/gateways/stripe/api.ts'
import {
  event,
  intent,
  interpretAll,
  paymentId,
  session,
  type Fields,
} from '../../../test/gateways/stripe/events.ts'

const refund: Fields = {
  id: 're_1',
  object: 'refund',
  amount: 1200,
  currency: 'uah',
  metadata: { payment_id: paymentId },
  payment_intent: 'pi_1',
  status: 'succeeded',
}
const invoice: Fields = {
  id: 'in_1',
  object: 'invoice',
  amount_due: 1900,
  amount_paid: 1900,
  billing_reason: 'subscription_cycle',
  currency: 'uah',
  due_date: null,
  effective_at: 1790000000,
  hosted_invoice_url: 'https://invoice.stripe.com/i/1',
  lines: {
    data: [
      {
        amount: 1900,
        parent: { subscription_item_details: { proration: false } },
        period: { start: 1790000000, end: 1792592000 },
      },
    ],
    has_more: false,
  },
  metadata: { payment_id: paymentId },
  number: 'A-1',
  parent: null,
  status: 'paid',
  status_transitions: { paid_at: 1790000000 },
  total: 1900,
}
const setup: Fields = {
  id: 'seti_1',
  object: 'setup_intent',
  customer: 'cus_1',
  metadata: {},
  payment_method: 'pm_1',
  status: 'succeeded',
}
const subscription: Fields = {
  id: 'sub_1',
  object: 'subscription',
  metadata: { payment_id: paymentId },
  status: 'active',
}
const dispute: Fields = { ...refund, id: 'du_1', object: 'dispute', status: 'lost' }

/** Events that are handled, with the object that they are about. */
const events: readonly (readonly [string, Fields])[] = [
  ['checkout.session.completed', session()],
  ['checkout.session.async_payment_succeeded', session()],
  ['checkout.session.async_payment_failed', session()],
  ['checkout.session.expired', session({ status: 'expired' })],
  ['payment_intent.succeeded', intent()],
  ['payment_intent.payment_failed', intent()],
  ['payment_intent.canceled', intent({ status: 'canceled' })],
  ['refund.updated', refund],
  ['charge.refunded', { ...refund, id: 'ch_1', object: 'charge' }],
  ['charge.dispute.closed', dispute],
  ['setup_intent.succeeded', setup],
  ['payment_method.attached', method()],
  ['payment_method.detached', method()],
  ['invoice.paid', invoice],
  ['invoice.payment_failed', { ...invoice, status: 'open' }],
  ['invoice.finalized', { ...invoice, status: 'open' }],
  ['customer.subscription.updated', subscription],
]

/** One of the events, with one or two fields of its object replaced by any JSON. */
const damaged = fc.constantFrom(...events).chain(([type, object]) => {
  const field = fc.constantFrom(...Object.keys(object), 'mode', 'card', 'invoice', 'charge')
  const changes = fc.array(fc.tuple(field, fc.jsonValue()), { minLength: 1, maxLength: 2 })
  return changes.map((changed) => ({
    type,
    object: { ...object, ...Object.fromEntries(changed) } as Fields,
  }))
})

test('no object makes an interpretation throw, and each gives an outcome', async () => {
  await fc.assert(
    fc.asyncProperty(damaged, async ({ type, object }) => {
      const outcomes = await interpretAll(event(type, object))
      const others = outcomes.filter(({ type: kind }) => kind !== 'invoice')
      const isAlone = others.length === 0 && type === 'invoice.finalized'
      assert.ok((others.length === 1 || isAlone) && outcomes.length <= 2, type)
    }),
    { numRuns: 500 },
  )
  const types = fc.constantFrom(...events.map(([type]) => type))
  await fc.assert(
    fc.asyncProperty(types, fc.jsonValue(), fc.jsonValue(), async (type, data, more) => {
      for (const told of [{ ...event(type, data), data: more }, event(type, data)]) {
        assert.equal((await interpretAll(told)).length, 1)
      }
    }),
  )
})

/** The statuses in which Stripe has the money, or has given it back. */
function isSettled(object: Fields): boolean {
  switch (object['object']) {
    case 'checkout.session':
      return ['paid', 'no_payment_required'].includes(String(object['payment_status']))
    case 'invoice':
      return object['status'] === 'paid'
    default:
      return object['status'] === 'succeeded'
  }
}

const isPaid = (outcome: Outcome) =>
  (outcome.type === 'payment' || outcome.type === 'refund') && outcome.status === 'paid'

test('a paid outcome never comes from a status that is not paid', async () => {
  const words = fc.constantFrom(
    'paid',
    'unpaid',
    'succeeded',
    'open',
    'processing',
    'no_payment_required',
    'Paid',
    'paid ',
  )
  const status = fc.oneof(words, fc.string(), fc.jsonValue())
  const statuses = fc.record({ status, payment_status: status })
  let paid = 0
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...events), statuses, async ([type, object], stated) => {
      const changed = { ...object, ...stated }
      const outcomes = await interpretAll(event(type, changed))
      if (!outcomes.some(isPaid)) return
      paid += 1
      assert.ok(isSettled(changed), JSON.stringify(changed))
      assert.doesNotMatch(type, /failed|expired|canceled/)
    }),
    { numRuns: 1000 },
  )
  assert.ok(paid > 0, 'some were paid')
})

test('whatever is stated of money is what the object has, to the unit', async () => {
  const fieldOf: Readonly<Record<string, string>> = {
    'checkout.session.completed': 'amount_total',
    'payment_intent.succeeded': 'amount_received',
    'refund.updated': 'amount',
    'invoice.paid': 'amount_paid',
    'charge.dispute.closed': 'amount',
  }
  const stated = fc.constantFrom(...events.filter(([type]) => fieldOf[type] !== undefined))
  const amounts = fc.maxSafeInteger()
  await fc.assert(
    fc.asyncProperty(stated, amounts, async ([type, object], amount) => {
      fc.pre(amount !== 0)
      const changed = { ...object, [fieldOf[type] ?? '']: amount }
      const [outcome] = await interpretAll(event(type, changed))
      assert.ok(outcome !== undefined && 'payment' in outcome)
      const found = 'amount' in outcome ? outcome.amount : undefined
      assert.equal(found, amount < 0 ? undefined : BigInt(amount))
    }),
  )
})
