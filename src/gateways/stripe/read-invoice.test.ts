import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../../payments/outcome.ts'
import { parseJson } from '../body/parse-json.ts'
import { invoicePaid } from './read-invoice.ts'
import { listOf, startApi } from '../../../test/gateways/stripe/api.ts'
import {
  assertIgnored,
  event,
  intent,
  interpretAll,
  paymentId,
  session,
  type Fields,
} from '../../../test/gateways/stripe/events.ts'

const metadata = { payment_id: paymentId }
const subscriptionOf = (metadata: unknown) => ({
  type: 'subscription_details',
  subscription_details: { subscription: 'sub_1', metadata },
})
const invoice = (fields: Fields = {}): Fields => ({
  id: 'in_1',
  object: 'invoice',
  amount_due: 1900,
  amount_paid: 1900,
  billing_reason: 'subscription_cycle',
  currency: 'uah',
  metadata: {},
  parent: subscriptionOf(metadata),
  status: 'paid',
  ...fields,
})
const first = { billing_reason: 'subscription_create' }
const money = { amount: 1900n, currency: 'UAH', live: false } as const
const firstPaid = {
  type: 'payment',
  payment: { id: paymentId },
  status: 'paid',
  ...money,
  providerReference: 'in_1',
  subscriptionReference: 'sub_1',
} as const
const renewed = {
  ...firstPaid,
  payment: { providerReference: 'in_1' },
  renews: { id: paymentId },
} as const
const paymentsOf = (outcomes: readonly Outcome[]) =>
  outcomes.filter(({ type }) => type === 'payment' || type === 'ignored')
/** What the event says beside the document that the invoice is. */
const interpret = async (value: unknown) => {
  const [outcome, ...more] = (await interpretAll(value)).filter(({ type }) => type !== 'invoice')
  assert.deepEqual(more, [])
  return outcome
}
const onPaid = (fields: Fields = {}) => interpret(event('invoice.paid', invoice(fields)))
const open = { status: 'open', amount_paid: 0 }
const failed = (fields: Fields = {}) =>
  event('invoice.payment_failed', invoice({ ...open, ...fields }))

test('the first invoice of a subscription pays our payment, the next ones renew it', async () => {
  assert.deepEqual(await onPaid(first), firstPaid)
  assert.deepEqual(await onPaid(), renewed)
  const bound = event('invoice.paid', invoice(), { livemode: true, account: 'acct_1' })
  const found = await interpret(bound)
  assert.deepEqual(found, { ...renewed, live: true, merchantAccount: 'acct_1' })
})

test('the reference is found in each layout that invoices have had', async () => {
  const layouts = [
    { parent: null, subscription: 'sub_1', subscription_details: { metadata } },
    { parent: null, subscription: 'sub_1', subscription_details: { metadata: {} }, metadata },
    { parent: undefined, subscription: 'sub_1', metadata },
    { parent: subscriptionOf({}), metadata },
    { metadata: { payment_id: 'order-7' } },
  ]
  for (const fields of layouts) {
    const old = { ...fields, paid: true, payment_intent: 'pi_1', charge: 'ch_1' }
    assert.deepEqual(await onPaid(old), renewed)
    assert.deepEqual(await onPaid({ ...old, ...first }), firstPaid)
  }
})

test('an invoice without a reference of ours settles nothing', async () => {
  for (const parent of [null, undefined, []]) {
    assertIgnored(await onPaid({ parent }), 'no_outcome', 'no payment reference')
  }
  for (const parent of [null, subscriptionOf({}), subscriptionOf(null)]) {
    assertIgnored(await onPaid({ parent, ...first }), 'no_outcome', 'no payment reference')
  }
  for (const payment_id of ['order-7', `{${paymentId}}`, '']) {
    const foreign = { parent: subscriptionOf({ payment_id }) }
    assertIgnored(await onPaid(foreign), 'invalid_reference', payment_id)
    assertIgnored(await interpret(failed(foreign)), 'invalid_reference', payment_id)
  }
})

test('a renewal without a reference of ours is known by its subscription alone', async () => {
  for (const details of [{}, null]) {
    const outcome = await onPaid({ parent: subscriptionOf(details) })
    assert.deepEqual(outcome, { ...renewed, renews: 'subscription' })
  }
})

test('what is no id of a subscription names none', async () => {
  const { subscriptionReference: _, ...nameless } = firstPaid
  for (const subscription of ['si_1', 'xsub_1', 'sub_1/..', 'sub_1 ', '', null, 7, ['sub_1']]) {
    const parent = { subscription_details: { subscription, metadata } }
    assert.deepEqual(await onPaid({ ...first, parent }), nameless)
    assert.deepEqual(await onPaid({ ...first, metadata, parent: null, subscription }), nameless)
  }
})

test('invoices for other reasons are unhandled_event', async () => {
  const reasons = ['subscription_update', 'subscription_threshold', 'manual', 'quote_accept']
  for (const billing_reason of [...reasons, 'subscription', 'SUBSCRIPTION_CYCLE', null]) {
    const detail = `invoice.paid, billing_reason ${billing_reason ?? 'missing'}`
    assertIgnored(await onPaid({ billing_reason }), 'unhandled_event', detail)
    const refused = await interpret(failed({ billing_reason }))
    assertIgnored(refused, 'unhandled_event')
  }
})

test('an invoice of nothing, and one that is not paid, are no_outcome', async () => {
  for (const reason of [first, {}]) {
    assertIgnored(await onPaid({ ...reason, amount_paid: 0 }), 'no_outcome', 'amount_paid 0')
    for (const status of ['open', 'void', 'uncollectible', 'draft', 'PAID', null]) {
      const detail = `invoice status ${status ?? 'missing'}`
      assertIgnored(await onPaid({ ...reason, status }), 'no_outcome', detail)
    }
  }
})

test('a renewal that credit has paid for is paid with nothing', async () => {
  const credited = { amount_due: 0, amount_paid: 0, total: 1900 }
  assert.deepEqual(await onPaid(credited), { ...renewed, amount: 0n })
  const nothing = await onPaid({ ...credited, total: 0 })
  assertIgnored(nothing, 'no_outcome', 'amount_paid 0')
})

test('a first invoice that credit has paid for is for a person, and one over nothing is not', () => {
  const paidWith = (total: number) => {
    const parsed = parseJson(JSON.stringify(invoice({ ...first, amount_paid: 0, total })))
    assert.ok(parsed.ok)
    const snapshot = { id: 'evt_1', type: 'invoice.paid', live: false, account: undefined }
    return invoicePaid({ ...snapshot, object: parsed.value })
  }
  const ignored = { type: 'ignored', reason: 'no_outcome', detail: 'amount_paid 0' } as const
  assert.deepEqual(paidWith(1900), { ...ignored, money: true, payment: { id: paymentId } })
  assert.deepEqual(paidWith(0), ignored)
})

test('an amount or a currency that cannot be read is left out', async () => {
  const { amount: _, ...withoutAmount } = renewed
  for (const amount_paid of ['1900', -1900, 19.5, null, undefined]) {
    assert.deepEqual(await onPaid({ amount_paid }), withoutAmount)
  }
  const { currency: __, ...withoutCurrency } = renewed
  assert.deepEqual(await onPaid({ currency: 'UAH' }), withoutCurrency)
})

test('an invoice without an id of its own is malformed_payload', async () => {
  for (const id of [undefined, null, 'pi_1', 'upcoming_in_1']) {
    assertIgnored(await onPaid({ id }), 'malformed_payload', 'data.object.id')
    assertIgnored(await interpret(failed({ id })), 'malformed_payload', 'data.object.id')
  }
})

test('without an API key a first payment is refused, and of a renewal nothing is said', async () => {
  assert.deepEqual(await interpret(failed(first)), { ...firstPaid, status: 'failed' })
  const renewal = await interpret(failed())
  assertIgnored(renewal, 'no_outcome', 'intent: STRIPE_SECRET_KEY is not set')
  for (const status of ['paid', 'void', null]) {
    const settled = await interpret(failed({ ...first, status }))
    assertIgnored(settled, 'no_outcome', `invoice status ${status ?? 'missing'}`)
  }
})

const payments = '/v1/invoice_payments?invoice=in_1&limit=100'
const paymentBy = (payment_intent: string, status: string) => ({
  id: `inpay_${payment_intent}`,
  object: 'invoice_payment',
  invoice: 'in_1',
  payment: { type: 'payment_intent', payment_intent },
  status,
})

test('a payment that waits for its payer has not failed', async () => {
  const cases = [
    ['requires_payment_method', undefined],
    ['canceled', undefined],
    ['requires_action', 'payment_intent status requires_action'],
    ['processing', 'payment_intent status processing'],
    ['succeeded', 'payment_intent status succeeded'],
    ['brand_new', 'payment_intent status brand_new'],
  ] as const
  for (const [status, detail] of cases) {
    await using api = await startApi({
      [payments]: listOf([paymentBy('pi_0', 'canceled'), paymentBy('pi_1', 'open')]),
      '/v1/payment_intents/pi_1': intent({ status, metadata: {} }),
    })
    const found = paymentsOf(await api.interpret(failed()))
    const foundFirst = paymentsOf(await api.interpret(failed(first)))
    if (detail === undefined) {
      assert.deepEqual(found, [{ ...renewed, status: 'failed' }], status)
      assert.deepEqual(foundFirst, [{ ...firstPaid, status: 'failed' }], status)
    } else {
      for (const [outcome] of [found, foundFirst]) assertIgnored(outcome, 'no_outcome', detail)
    }
    assert.ok(!api.asked().includes('/v1/payment_intents/pi_0'))
  }
})

test('the invoice’s own intent, in the old layout, is asked for directly', async () => {
  await using api = await startApi({
    '/v1/payment_intents/pi_9': intent({ id: 'pi_9', status: 'requires_action' }),
  })
  const [found] = await api.interpret(failed({ payment_intent: 'pi_9' }))
  assertIgnored(found, 'no_outcome', 'payment_intent status requires_action')
  assert.deepEqual(api.asked(), ['/v1/payment_intents/pi_9'])
})

test('an invoice that nothing waits for has failed', async () => {
  const replies = [
    {},
    { [payments]: listOf([]) },
    { [payments]: listOf([paymentBy('pi_1', 'paid')]) },
    { [payments]: listOf([paymentBy('ch_1', 'open')]) },
    { [payments]: listOf([paymentBy('pi_2', 'open')]) },
  ]
  for (const reply of replies) {
    await using api = await startApi(reply)
    assert.deepEqual(paymentsOf(await api.interpret(failed())), [{ ...renewed, status: 'failed' }])
  }
})

test('a failed charge says why the bank declined the last try', async () => {
  const declined = (decline_code: string) =>
    intent({
      status: 'requires_payment_method',
      metadata: {},
      last_payment_error: { decline_code },
    })
  await using api = await startApi({
    [payments]: listOf([paymentBy('pi_1', 'open')]),
    '/v1/payment_intents/pi_1': declined('stolen_card'),
  })
  const expected = { ...renewed, status: 'failed', declineCode: 'stolen_card' }
  assert.deepEqual(paymentsOf(await api.interpret(failed())), [expected])
})

test('a failure is not told while Stripe does not say what became of the intent', async () => {
  await using api = await startApi({ [payments]: () => ({ status: 401, body: {} }) })
  await assert.rejects(api.interpret(failed()), { code: 'provider_refused' })
})

test('a subscription’s checkout settles our payment, known by its first invoice', async () => {
  const fields = {
    mode: 'subscription',
    amount_total: 1900,
    payment_intent: null,
    invoice: 'in_1',
    subscription: 'sub_1',
  }
  const completed = (more: Fields = {}) =>
    event('checkout.session.completed', session({ ...fields, ...more }))
  const paid = { ...firstPaid, checkoutReference: 'cs_test_a1' }
  assert.deepEqual(await interpret(completed()), paid)
  const { providerReference: _, ...unnamed } = paid
  assert.deepEqual(await interpret(completed({ invoice: null })), unnamed)
  const unpaid = await interpret(completed({ payment_status: 'unpaid' }))
  assertIgnored(unpaid, 'no_outcome', 'payment_status unpaid')
  const trial = { payment_status: 'no_payment_required', amount_total: 0 }
  assert.deepEqual(await interpret(completed(trial)), { ...paid, amount: 0n })
  const wrong = await interpret(completed({ invoice: 'pi_1' }))
  assertIgnored(wrong, 'malformed_payload', 'data.object.invoice')
  const payment = event('checkout.session.completed', session({ invoice: 'in_1' }))
  const [ofPayment] = await interpretAll(payment)
  assert.ok(ofPayment?.type === 'payment' && ofPayment.providerReference === 'pi_1')
})
