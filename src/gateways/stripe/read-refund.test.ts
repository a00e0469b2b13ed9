import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOf, startApi } from '../../../test/gateways/stripe/api.ts'
import {
  assertIgnored,
  event,
  intent,
  interpret,
  otherId,
  paymentId,
  type Fields,
} from '../../../test/gateways/stripe/events.ts'

const refund = (fields: Fields = {}): Fields => ({
  id: 're_1',
  object: 'refund',
  amount: 1200,
  charge: 'ch_1',
  currency: 'uah',
  metadata: { payment_id: paymentId },
  payment_intent: 'pi_1',
  status: 'succeeded',
  ...fields,
})
const charge = (fields: Fields = {}): Fields => ({
  id: 'ch_1',
  object: 'charge',
  amount: 4999,
  amount_refunded: 2000,
  currency: 'uah',
  metadata: {},
  payment_intent: 'pi_1',
  ...fields,
})
const outcome = {
  type: 'refund',
  payment: { id: paymentId },
  status: 'paid',
  refundReference: 're_1',
  amount: 1200n,
  currency: 'UAH',
  live: false,
} as const
/** What the intent says that names its payment: it was paid, and is what went back. */
const ofIntent = { providerReference: 'pi_1' } as const
const paidBefore = {
  type: 'payment',
  payment: { id: paymentId },
  status: 'paid',
  amount: 4999n,
  currency: 'UAH',
  live: false,
  ...ofIntent,
} as const
const readRefund = (fields: Fields = {}, type = 'refund.updated') =>
  interpret(event(type, refund(fields)))
const dashboard = { metadata: {} }
const ofPaidIntent =
  '/v1/invoice_payments?payment[type]=payment_intent&payment[payment_intent]=pi_1'
const invoicePaymentsPath = `${ofPaidIntent}&limit=100`
const paidInvoice = (invoice: string, status = 'paid') => ({
  id: `inpay_${invoice}`,
  object: 'invoice_payment',
  invoice,
  payment: { type: 'payment_intent', payment_intent: 'pi_1' },
  status,
})

test('a refund has the status that it has, whichever event tells it', async () => {
  const statuses = [
    ['pending', 'pending'],
    ['requires_action', 'pending'],
    ['succeeded', 'paid'],
    ['failed', 'failed'],
    ['canceled', 'canceled'],
  ] as const
  const types = ['refund.created', 'refund.updated', 'refund.failed', 'charge.refund.updated']
  for (const type of types) {
    for (const [stated, status] of statuses) {
      assert.deepEqual(await readRefund({ status: stated }, type), { ...outcome, status }, type)
    }
  }
})

test('a refund of another status, or of none, is no_outcome', async () => {
  for (const status of ['SUCCEEDED', 'reversed', 'toString', '', null, true, undefined]) {
    const shown = typeof status === 'string' ? status : 'missing'
    assertIgnored(await readRefund({ status }), 'no_outcome', `refund status ${shown}`)
  }
})

test('a refund tells its account and mode, and our own row if it echoes one', async () => {
  const metadata = { payment_id: paymentId, refund_id: otherId }
  const live = event('refund.created', refund({ metadata }), { livemode: true, account: 'acct_1' })
  const bound = { ...outcome, live: true, merchantAccount: 'acct_1', refundId: otherId }
  assert.deepEqual(await interpret(live), bound)
  for (const refund_id of ['refund-7', `{${otherId}}`, 7, null]) {
    const stranger = { metadata: { payment_id: paymentId, refund_id } }
    assert.deepEqual(await readRefund(stranger), outcome, String(refund_id))
  }
})

test('an amount or a currency that cannot be read is left out', async () => {
  const { amount: _, ...withoutAmount } = outcome
  for (const amount of ['1200', -1200, 12.5, null]) {
    assert.deepEqual(await readRefund({ amount }), withoutAmount)
  }
  const { currency: __, ...withoutCurrency } = outcome
  assert.deepEqual(await readRefund({ currency: 'UAH' }), withoutCurrency)
})

test('a refund that cannot be told from others is malformed_payload', async () => {
  for (const id of [undefined, null, 'ch_1', '', 're-1', 7]) {
    assertIgnored(await readRefund({ id }), 'malformed_payload', 'data.object.id')
  }
  assertIgnored(await readRefund({ object: 'charge' }), 'malformed_payload', 'data.object.object')
  const ofDebit = await readRefund({ id: 'pyr_1' })
  assert.deepEqual(ofDebit, { ...outcome, refundReference: 'pyr_1' })
})

test('without an API key a refund that names no payment is that of its intent', async () => {
  const byIntent = { ...outcome, payment: { providerReference: 'pi_1' } }
  for (const metadata of [{}, null, undefined, { payment_id: null }]) {
    assert.deepEqual(await readRefund({ metadata }), byIntent)
  }
  const foreign = await readRefund({ metadata: { payment_id: 'order-7' } })
  assertIgnored(foreign, 'invalid_reference', 'order-7')
  const old = await readRefund({ ...dashboard, payment_intent: null })
  assertIgnored(old, 'no_outcome', 'payment of ch_1: STRIPE_SECRET_KEY is not set')
  const loose = await readRefund({ ...dashboard, payment_intent: null, charge: null })
  assertIgnored(loose, 'no_outcome', 'no payment intent')
})

test('with an API key the metadata of the intent name the payment, and it says what was paid', async () => {
  await using api = await startApi({ '/v1/payment_intents/pi_1': intent() })
  const found = await api.interpret(event('refund.created', refund(dashboard)))
  assert.deepEqual(found, [paidBefore, { ...outcome, ...ofIntent }])
  assert.deepEqual(api.asked(), ['/v1/payment_intents/pi_1', invoicePaymentsPath])
  assert.deepEqual(await api.interpret(event('refund.created', refund())), [outcome])
  assert.equal(api.asked().length, 2, 'what the refund says itself is not looked up')
})

test('a payment that is known by its invoice is not compared with the intent that paid that', async () => {
  for (const invoices of [['in_1'], ['in_1', 'in_2']]) {
    await using api = await startApi({
      '/v1/payment_intents/pi_1': intent(),
      [invoicePaymentsPath]: listOf(invoices.map((invoice) => paidInvoice(invoice))),
    })
    assert.deepEqual(await api.interpret(event('refund.created', refund(dashboard))), [outcome])
  }
})

test('a refund whose charge names the payment counts though Stripe refuses to say more, and waits for an outage', async () => {
  const own = { metadata: { payment_id: paymentId } }
  const refunded = event('charge.refunded', charge(own))
  const replies = (status: number) => ({
    '/v1/refunds?charge=ch_1&limit=100': listOf([refund(dashboard)]),
    '/v1/payment_intents/pi_1': intent(dashboard),
    [invoicePaymentsPath]: () => ({ status, body: {} }),
  })
  await using refusing = await startApi(replies(403))
  assert.deepEqual(await refusing.interpret(refunded), [outcome])
  await using named = await startApi({ ...replies(403), '/v1/payment_intents/pi_1': intent() })
  assert.deepEqual(await named.interpret(event('refund.created', refund(dashboard))), [outcome])
  await using down = await startApi(replies(503))
  await assert.rejects(down.interpret(refunded), { code: 'provider_unreachable' })
})

test('an intent that has taken no money says nothing of it', async () => {
  const waiting = intent({ status: 'requires_capture' })
  await using api = await startApi({ '/v1/payment_intents/pi_1': waiting })
  const found = await api.interpret(event('refund.created', refund(dashboard)))
  assert.deepEqual(found, [{ ...outcome, ...ofIntent }])
})

test('the intent of another shop’s payment is invalid_reference', async () => {
  const foreign = intent({ metadata: { payment_id: 'order-7' } })
  await using api = await startApi({ '/v1/payment_intents/pi_1': foreign })
  const [found] = await api.interpret(event('refund.created', refund(dashboard)))
  assertIgnored(found, 'invalid_reference', 'order-7')
})

test('the refund of a renewal is that of the invoice which its intent has paid', async () => {
  const cases = [
    [[paidInvoice('in_1')], 'in_1'],
    [[paidInvoice('in_2', 'canceled'), paidInvoice('in_1'), paidInvoice('in_1')], 'in_1'],
    [[], 'pi_1'],
    [[paidInvoice('in_1', 'open')], 'pi_1'],
    [[paidInvoice('in_1'), paidInvoice('in_2')], 'pi_1'],
    [[paidInvoice('ch_1')], 'pi_1'],
  ] as const
  for (const [payments, providerReference] of cases) {
    await using api = await startApi({
      '/v1/payment_intents/pi_1': intent({ metadata: {} }),
      [invoicePaymentsPath]: listOf(payments),
    })
    const found = await api.interpret(event('refund.created', refund(dashboard)))
    assert.deepEqual(found, [{ ...outcome, payment: { providerReference } }])
  }
})

test('a refund of a charge alone is found through the charge', async () => {
  const alone = { ...dashboard, payment_intent: null }
  const cases = [
    [charge({ metadata: { payment_id: paymentId } }), { id: paymentId }],
    [charge(), { providerReference: 'pi_1' }],
  ] as const
  for (const [body, payment] of cases) {
    await using api = await startApi({ '/v1/charges/ch_1': body })
    const found = await api.interpret(event('refund.created', refund(alone)))
    assert.deepEqual(found, [{ ...outcome, payment }])
  }
  for (const body of [undefined, charge({ payment_intent: null })]) {
    await using api = await startApi(body === undefined ? {} : { '/v1/charges/ch_1': body })
    const [found] = await api.interpret(event('refund.created', refund(alone)))
    assertIgnored(found, 'no_outcome', 'no payment intent of ch_1')
  }
})

test('charge.refunded has a sum only: without an API key it says nothing', async () => {
  const found = await interpret(event('charge.refunded', charge()))
  assertIgnored(found, 'no_outcome', 'reported by refund events: STRIPE_SECRET_KEY is not set')
  const wrong = await interpret(event('charge.refunded', charge({ id: 're_1' })))
  assertIgnored(wrong, 'malformed_payload', 'data.object.id')
})

test('charge.refunded with an API key is every refund of the charge, on all pages', async () => {
  const page = '/v1/refunds?charge=ch_1&limit=100'
  await using api = await startApi({
    [page]: listOf([refund(dashboard), refund({ id: 're_2', amount: 1 })], true),
    [`${page}&starting_after=re_2`]: listOf([
      refund({ ...dashboard, id: 're_3', status: 'pending' }),
    ]),
    '/v1/payment_intents/pi_1': intent({ metadata: { payment_id: otherId } }),
  })
  const other = { payment: { id: otherId }, ...ofIntent }
  assert.deepEqual(await api.interpret(event('charge.refunded', charge())), [
    { ...paidBefore, ...other },
    { ...outcome, ...other },
    { ...outcome, refundReference: 're_2', amount: 1n },
    { ...outcome, ...other, refundReference: 're_3', status: 'pending' },
  ])
  assert.equal(api.asked().filter((path) => path.includes('intents')).length, 1)
})

test('a charge whose refunds name the payment themselves is not looked up further', async () => {
  await using api = await startApi({ '/v1/refunds?charge=ch_1&limit=100': listOf([refund()]) })
  assert.deepEqual(await api.interpret(event('charge.refunded', charge())), [outcome])
  assert.equal(api.asked().length, 1)
})

test('a list of refunds that is empty, wrong or endless never becomes a refund', async () => {
  const list = '/v1/refunds?charge=ch_1&limit=100'
  for (const [body, code] of [
    [listOf([], true), 'provider_reply_invalid'],
    [listOf([{ object: 'refund' }], true), 'provider_reply_invalid'],
    [listOf(['re_1']), 'provider_reply_invalid'],
    [{ object: 'list' }, 'provider_reply_invalid'],
    [[], 'provider_reply_invalid'],
    ['<html>', 'provider_reply_invalid'],
  ] as const) {
    await using api = await startApi({ [list]: body })
    await assert.rejects(api.interpret(event('charge.refunded', charge())), { code })
  }
  for (const replies of [{ [list]: listOf([]) }, {}]) {
    await using api = await startApi(replies)
    const [found] = await api.interpret(event('charge.refunded', charge()))
    assertIgnored(found, 'no_outcome', 'no refunds of ch_1')
  }
  const cases = [
    [{ id: 7 }, 'refund.id'],
    [{ charge: 'ch_2' }, 'refund.charge'],
    [{ charge: null }, 'refund.charge'],
  ] as const
  for (const [fields, field] of cases) {
    await using api = await startApi({ [list]: listOf([refund(fields)]) })
    const [found] = await api.interpret(event('charge.refunded', charge()))
    assertIgnored(found, 'malformed_payload', field)
  }
})
