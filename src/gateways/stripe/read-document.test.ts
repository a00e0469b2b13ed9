import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../../payments/outcome.ts'
import {
  assertIgnored,
  event,
  interpretAll,
  paymentId,
  type Fields,
} from '../../../test/gateways/stripe/events.ts'

const metadata = { payment_id: paymentId }
const at = (seconds: number) => new Date(seconds * 1000)
const finalized = 1_790_000_100
const paid = 1_790_000_200

/** As it is now, and as it was before 2025-03-31. */
const layouts: Readonly<Record<string, Fields>> = {
  now: {
    parent: {
      type: 'subscription_details',
      subscription_details: { subscription: 'sub_1', metadata },
    },
  },
  before: {
    subscription: 'sub_1',
    subscription_details: { metadata },
    payment_intent: 'pi_1',
    charge: 'ch_1',
    paid: true,
  },
}
const layout = layouts['now'] ?? {}

const invoice = (fields: Fields = {}): Fields => ({
  id: 'in_1',
  object: 'invoice',
  amount_due: 1900,
  amount_paid: 1900,
  billing_reason: 'subscription_cycle',
  currency: 'uah',
  due_date: null,
  effective_at: finalized,
  hosted_invoice_url: 'https://invoice.stripe.com/i/1',
  lines: { data: [{ amount: 1900, description: 'Membership', quantity: 2 }], has_more: false },
  metadata: {},
  number: 'A-0001',
  status: 'paid',
  status_transitions: { finalized_at: finalized, paid_at: paid },
  total: 1900,
  ...fields,
})

const stated = {
  type: 'invoice',
  reference: 'in_1',
  status: 'paid',
  number: 'A-0001',
  url: 'https://invoice.stripe.com/i/1',
  amount: 1900n,
  currency: 'UAH',
  lines: [{ description: 'Membership', quantity: 2, amount: 1900n }],
  issuedAt: at(finalized),
  paidAt: at(paid),
  subscriptionReference: 'sub_1',
  payment: { providerReference: 'in_1' },
  live: false,
} as const

const documentsIn = (outcomes: readonly Outcome[]) =>
  outcomes.filter((outcome) => outcome.type === 'invoice')
const documentOf = async (fields: Fields = {}, type = 'invoice.paid') =>
  documentsIn(await interpretAll(event(type, invoice({ ...layout, ...fields }))))[0]

for (const [name, fields] of Object.entries(layouts)) {
  test(`a paid invoice is a payment and a document (${name})`, async () => {
    const renewal = await interpretAll(event('invoice.paid', invoice(fields)))
    assert.deepEqual(renewal[1], stated)
    assert.partialDeepStrictEqual(renewal, [{ type: 'payment', status: 'paid' }, {}])
    const first = invoice({ ...fields, billing_reason: 'subscription_create' })
    const begun = await interpretAll(event('invoice.paid', first))
    assert.deepEqual(begun[1], { ...stated, payment: { id: paymentId } })
  })

  test(`an invoice is issued, then paid, given up or void (${name})`, async () => {
    const cases = [
      ['invoice.finalized', 'open', 'issued'],
      ['invoice.payment_failed', 'open', 'issued'],
      ['invoice.marked_uncollectible', 'uncollectible', 'issued'],
      ['invoice.voided', 'void', 'void'],
      // The object says how it stands, not the event.
      ['invoice.finalized', 'paid', 'paid'],
    ] as const
    for (const [type, status, expected] of cases) {
      const outcomes = await interpretAll(event(type, invoice({ ...fields, status })))
      assert.deepEqual(documentsIn(outcomes), [{ ...stated, status: expected }], type)
    }
  })
}

test('the date of issue is the one that is printed on it', async () => {
  const issued = async (fields: Fields) => (await documentOf(fields))?.issuedAt
  assert.deepEqual(await issued({ effective_at: 1_789_999_999 }), at(1_789_999_999))
  assert.deepEqual(await issued({ effective_at: null }), at(finalized))
  assert.equal(await issued({ effective_at: null, status_transitions: null }), undefined)
  const due = await documentOf({ due_date: paid, status: 'open' }, 'invoice.finalized')
  assert.deepEqual(due?.dueAt, at(paid))
})

test('what is worded otherwise than Stripe words it is left out', async () => {
  const { url: _, number: __, lines: ___, amount: ____, ...rest } = stated
  const fields = {
    hosted_invoice_url: 'javascript:alert(1)',
    number: null,
    lines: { data: [], has_more: false },
    total: 19.5,
  }
  assert.deepEqual(await documentOf(fields), rest)
})

test('what is over nothing, a draft, or about nothing of ours is no document', async () => {
  const none = [
    { total: 0, amount_paid: 0 },
    { status: 'draft' },
    { status: 'brand_new' },
    { parent: null, billing_reason: 'manual' },
    { parent: { subscription_details: { subscription: 'sub_1', metadata: { payment_id: 'x' } } } },
  ]
  for (const fields of none) {
    assert.equal(await documentOf(fields), undefined, JSON.stringify(fields))
    const [alone, ...more] = await interpretAll(
      event('invoice.voided', invoice({ ...layout, ...fields })),
    )
    assertIgnored(alone, 'no_outcome')
    assert.deepEqual(more, [])
  }
  const [nameless] = await interpretAll(event('invoice.voided', { object: 'invoice' }))
  assertIgnored(nameless, 'malformed_payload', 'data.object.id')
})

test('what is charged between periods is a document of the subscription, and of no payment', async () => {
  const { payment: _, ...nameless } = stated
  const update = { billing_reason: 'subscription_update' }
  assert.deepEqual(await documentOf(update), nameless)
  const stranger = { subscription_details: { subscription: 'sub_9', metadata: {} } }
  const other = { ...nameless, subscriptionReference: 'sub_9' }
  assert.deepEqual(await documentOf({ ...update, parent: stranger }), other)
  // One that we are named in ourselves is about that payment.
  const manual = await documentOf({ parent: null, billing_reason: 'manual', metadata })
  const { subscriptionReference: __, ...single } = stated
  assert.deepEqual(manual, { ...single, payment: { id: paymentId } })
})

test('an invoice that begins periods anew pays for one, and renews', async () => {
  const period = { start: 1_790_000_000, end: 1_792_592_000 }
  const line = { amount: 1900, parent: { subscription_item_details: { proration: false } }, period }
  const resumed = invoice({
    ...layout,
    billing_reason: 'subscription_update',
    lines: { data: [line], has_more: false },
  })
  const [renewal, document] = await interpretAll(event('invoice.paid', resumed))
  assert.partialDeepStrictEqual(renewal, {
    type: 'payment',
    renews: { id: paymentId },
    period: { startsAt: at(period.start), endsAt: at(period.end) },
  })
  assert.partialDeepStrictEqual(document, { payment: { providerReference: 'in_1' } })
})
