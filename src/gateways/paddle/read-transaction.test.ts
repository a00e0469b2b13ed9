import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFormBody } from '../body/parse-form-body.ts'
import {
  assertIgnored,
  completed,
  contextOf,
  event,
  interpret,
  interpretText,
  paidOutcome,
  paymentId,
  renewal,
  renewedOutcome,
  subscriptionId,
  totals,
  transaction,
  type Fields,
} from '../../../test/gateways/paddle/events.ts'
import { paddle } from './index.ts'

const declined = [{ status: 'error' }, { status: 'captured' }]
const unpaid = { status: 'ready', payments: declined }
const failedAttempt = (fields: Fields = {}) =>
  interpret(event('transaction.payment_failed', transaction({ ...unpaid, ...fields })))

test('each handled event becomes its outcome, with everything that it states', async () => {
  for (const type of ['transaction.completed', 'transaction.paid']) {
    for (const status of ['completed', 'paid']) {
      for (const origin of ['web', 'api']) {
        const outcome = await interpret(event(type, transaction({ status, origin })))
        assert.deepEqual(outcome, paidOutcome, `${type} ${status} ${origin}`)
      }
    }
  }
  assert.deepEqual(await failedAttempt(), { ...paidOutcome, status: 'failed' })
  const canceled = transaction({ status: 'canceled', payments: [] })
  assert.deepEqual(await interpret(event('transaction.canceled', canceled)), {
    ...paidOutcome,
    status: 'canceled',
  })
})

test('the checkout that begins a subscription is a payment like any other', async () => {
  const began = { ...paidOutcome, subscriptionReference: subscriptionId }
  assert.deepEqual(await completed({ subscription_id: subscriptionId }), began)
  for (const subscription of [null, undefined, 7, 'txn_1', 'sub_', 'sub_A']) {
    assert.deepEqual(await completed({ subscription_id: subscription }), paidOutcome)
  }
})

test('an event whose transaction has another status is no_outcome and never paid', async () => {
  for (const status of ['draft', 'ready', 'billed', 'canceled', 'past_due', 'PAID', 'toString']) {
    for (const type of ['transaction.completed', 'transaction.paid']) {
      const outcome = await interpret(event(type, transaction({ status })))
      assertIgnored(outcome, 'no_outcome', `status ${status}`)
    }
  }
  assertIgnored(await completed({ status: undefined }), 'no_outcome', 'status missing')
  for (const status of ['ready', 'paid', 'completed', null]) {
    const outcome = await interpret(event('transaction.canceled', transaction({ status })))
    assertIgnored(outcome, 'no_outcome', `status ${status ?? 'missing'}`)
  }
})

test('a failed attempt is told by the newest one, and only by an error', async () => {
  const statuses = ['captured', 'action_required', 'pending_no_action_required', 'created']
  for (const status of [...statuses, 'authorized', 'canceled', 'dropped', 'unknown', 'ERROR']) {
    const outcome = await failedAttempt({ payments: [{ status }, { status: 'error' }] })
    assertIgnored(outcome, 'no_outcome', `payments[0].status ${status}`)
  }
  const nameless = await failedAttempt({ payments: [{}] })
  assertIgnored(nameless, 'no_outcome', 'payments[0].status missing')
  for (const payments of [[], null, undefined, {}, 'error', [null], ['error']]) {
    assertIgnored(await failedAttempt({ payments }), 'no_outcome', 'payments missing')
  }
})

test('events without a result are no_outcome whatever they carry', async () => {
  for (const action of ['created', 'ready', 'updated', 'billed', 'revised']) {
    const type = `transaction.${action}`
    assertIgnored(await interpret(event(type, transaction())), 'no_outcome', type)
    assertIgnored(await interpret(event(type, null)), 'no_outcome', type)
  }
})

test('charges of a subscription that are no renewal, and unknown origins, settle nothing', async () => {
  const origins = ['subscription_payment_method_change', 'subscription_charge']
  for (const origin of [...origins, 'subscription_update', 'WEB', 'toString', '']) {
    for (const action of ['completed', 'paid', 'payment_failed', 'canceled']) {
      const type = `transaction.${action}`
      const outcome = await interpret(event(type, transaction({ ...unpaid, origin })))
      assertIgnored(outcome, 'unhandled_event', `${type}, origin ${origin}`)
    }
  }
  const detail = 'transaction.completed, origin missing'
  for (const origin of [undefined, null, 7, ['web']]) {
    assertIgnored(await completed({ origin }), 'unhandled_event', detail)
  }
})

test('a transaction is named by its id, and custom data only claim to name its payment', async () => {
  const { claimed: _, ...unclaimed } = paidOutcome
  for (const custom of [null, undefined, {}, [], 'x', { payment_id: null }, { order: '7' }]) {
    assert.deepEqual(await completed({ custom_data: custom }), unclaimed)
  }
  const claim = (id: string) => ({ ...unclaimed, claimed: { id, by: 'payer' } })
  for (const id of ['', 'order-7', paymentId.toUpperCase(), `{${paymentId}}`]) {
    assert.deepEqual(await completed({ custom_data: { payment_id: id } }), claim(id))
  }
  for (const id of [7, true, [paymentId], { id: paymentId }]) {
    assert.deepEqual(await completed({ custom_data: { payment_id: id } }), claim('not a text'))
  }
  const long = await completed({ custom_data: { payment_id: 'x'.repeat(10_240) } })
  assert.deepEqual(long, claim(`${'x'.repeat(99)}…`))
})

test('an amount is a text of digits; what is not read is left out, and nothing else is', async () => {
  const { amount: _, ...withoutAmount } = paidOutcome
  const texts = ['', '-1', '+1', '1.0', '1e2', ' 100', '0x64', '100,00', '1_00', '٤٩٩٩', '0100']
  for (const total of [...texts, '9'.repeat(30), 4999, null, undefined, true, ['4999']]) {
    const outcome = await completed({ details: { totals: totals({ total }) } })
    assert.deepEqual(outcome, withoutAmount, JSON.stringify(total))
  }
  const amounts = [
    ['0', 0n],
    ['1', 1n],
    ['5000', 5000n],
    ['9007199254740991', 9007199254740991n],
  ] as const
  for (const [total, amount] of amounts) {
    const outcome = await completed({ details: { totals: totals({ total }) } })
    assert.deepEqual(outcome, { ...paidOutcome, amount })
  }
})

test('a currency is exactly three capitals of ISO 4217', async () => {
  const { currency: _, ...withoutCurrency } = paidOutcome
  const texts = [
    'usd',
    'Usd',
    'USD ',
    ' USD',
    'US',
    'USDT',
    'XYZ',
    '840',
    'ＵＳＤ',
    'USD\u200b',
    '',
  ]
  for (const code of [...texts, null, undefined, 840, ['USD']]) {
    const outcome = await completed({ details: { totals: totals({ currency_code: code }) } })
    assert.deepEqual(outcome, withoutCurrency, JSON.stringify(code))
  }
  for (const currency of ['UAH', 'JPY', 'KRW', 'EUR']) {
    const outcome = await completed({ details: { totals: totals({ currency_code: currency }) } })
    assert.deepEqual(outcome, { ...paidOutcome, currency })
  }
})

test('the amount is the total, tax included, and never another sum of the transaction', async () => {
  const sums = { subtotal: '1', tax: '2', discount: '3', credit: '4', grand_total: '5' }
  const details = {
    totals: totals({ ...sums, balance: '6' }),
    adjusted_totals: totals({ total: '7', currency_code: 'EUR' }),
    payout_totals: totals({ total: '8', currency_code: 'EUR' }),
  }
  assert.deepEqual(await completed({ details, currency_code: 'EUR' }), paidOutcome)
  const { amount: _, currency: __, ...withoutMoney } = paidOutcome
  const elsewhere = { details: { ...details, totals: null }, currency_code: 'USD' }
  assert.deepEqual(await completed(elsewhere), withoutMoney)
  for (const none of [undefined, null, [], 'x', { totals: [] }, { totals: '4999' }]) {
    assert.deepEqual(await completed({ details: none }), withoutMoney)
  }
})

test('a renewal is a payment of its own that names its subscription', async () => {
  const own = { custom_data: { payment_id: paymentId } }
  for (const type of ['transaction.paid', 'transaction.completed']) {
    assert.deepEqual(await interpret(event(type, renewal(own))), renewedOutcome)
  }
  const failed = event('transaction.payment_failed', renewal({ ...own, ...unpaid }))
  assert.deepEqual(await interpret(failed), { ...renewedOutcome, status: 'failed' })
  const canceled = event('transaction.canceled', renewal({ ...own, status: 'canceled' }))
  assert.deepEqual(await interpret(canceled), { ...renewedOutcome, status: 'canceled' })
  const { claimed: _, ...unclaimed } = renewedOutcome
  assert.deepEqual(await interpret(event('transaction.paid', renewal())), unclaimed)
})

test('a renewal without a subscription is malformed_payload', async () => {
  for (const subscription of [null, undefined, 7, 'txn_1', 'sub_', 'sub_/../x', 'sub_A']) {
    const nameless = renewal({ subscription_id: subscription })
    const outcome = await interpret(event('transaction.paid', nameless))
    assertIgnored(outcome, 'malformed_payload', 'data.subscription_id')
  }
})

test('an entity or an id of another form is malformed_payload naming the field', async () => {
  for (const data of [null, undefined, [], 'x', 7, [transaction()]]) {
    assertIgnored(await interpret(event('transaction.paid', data)), 'malformed_payload', 'data')
  }
  const ids = ['', 'txn_', 'sub_1', 'txn_a/b', 'txn_a b', 'TXN_1', 'txn_A', 'txn', 'txn_a_b']
  for (const id of [...ids, `txn_${'a'.repeat(61)}`, 7, null, undefined]) {
    assertIgnored(await completed({ id }), 'malformed_payload', 'data.id')
  }
  const longest = `txn_${'a'.repeat(60)}`
  const outcome = await completed({ id: longest })
  const payment = { checkoutReference: longest }
  assert.deepEqual(outcome, { ...paidOutcome, payment, checkoutReference: longest })
})

test('what is no notification says what is wrong with it', async () => {
  for (const text of ['null', '[]', '"x"', '1', 'true']) {
    assertIgnored(await interpretText(text), 'malformed_payload', 'body')
  }
  for (const type of [undefined, null, 7, ['transaction.paid']]) {
    const nameless = event('', transaction(), { event_type: type })
    assertIgnored(await interpret(nameless), 'malformed_payload', 'event_type')
  }
  assertIgnored(await interpretText('{"a":1,"a":2}'), 'unreadable_payload', 'duplicate_key')
  assertIgnored(await interpretText(''), 'unreadable_payload', 'empty')
  const form = parseFormBody(Buffer.from('event_type=transaction.ready'))
  const [outcome] = await paddle.interpret(form, contextOf())
  assert.ok(outcome)
  assertIgnored(outcome, 'malformed_payload', 'body')
})

test('subscription events without an API key, and all other types, are unhandled_event', async () => {
  const types = ['subscription.created', 'subscription.past_due', 'subscription.deleted']
  for (const type of [
    ...types,
    'customer.created',
    'toString',
    '__proto__',
    'Transaction.paid',
    '',
  ]) {
    assertIgnored(await interpret(event(type, transaction())), 'unhandled_event', type)
    assertIgnored(await interpret(event(type, null)), 'unhandled_event', type)
  }
  const long = await interpret(event('x'.repeat(10_240), {}))
  assertIgnored(long, 'unhandled_event', `${'x'.repeat(99)}…`)
})
