import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  key,
  official,
  otherPaymentId,
  outcomesOf,
  paidOrder,
  paymentId,
  signed,
  verdictOn,
  type Parameters,
} from '../../../test/gateways/hutko/callbacks.ts'
import { piecesOf, rename, signatureOver } from '../../../test/gateways/hutko/renamed.ts'

test('a declined order cannot be cut up into a paid one of another payment', () => {
  const crafted = `4815162|${otherPaymentId}|approved|14.02.2026 09:06:00|917204419|card|success|0|purchase`
  const declined = { ...paidOrder, order_status: 'declined', merchant_data: crafted }
  const pieces = piecesOf(declined)
  const first = pieces.indexOf('4815162')
  const names = ['merchant_id', 'order_id', 'order_status', 'order_time', 'payment_id']
  const firstNames = Object.keys(paidOrder).toSorted().slice(0, 9)
  const rest = ['payment_system', 'response_status', 'reversal_amount', 'tran_type']
  const forged = rename(
    pieces,
    new Map([
      ...firstNames.map((name, at): [number, string] => [at, name]),
      ...[...names, ...rest].map((name, at): [number, string] => [first + at, name]),
    ]),
  )
  const callback = { ...forged, signature: official.genSignature(declined, key) }
  // The signature is good, and the names say that the other payment is paid.
  assert.ok(official.validateResponse(callback, key))
  const [outcome] = outcomesOf(JSON.stringify(callback))
  assert.ok(outcome?.type === 'payment' && outcome.status === 'paid')
  assert.deepEqual(outcome.payment, { id: otherPaymentId })
  assert.equal(verdictOn(callback), 'fields_ambiguous')
  assert.equal(verdictOn(signed(declined)), 'fields_ambiguous')
})

test('a genuine callback is accepted in every state that the provider tells', () => {
  const unpaid = { actual_amount: '', approval_code: '', rrn: '' }
  const none = {
    ...unpaid,
    actual_currency: '',
    masked_card: '',
    card_bin: '',
    card_type: '',
    eci: '',
  }
  const genuine: readonly Parameters[] = [
    {},
    { ...unpaid, order_status: 'processing' },
    {
      ...unpaid,
      order_status: 'declined',
      response_code: 1004,
      response_description: 'Do not honor',
    },
    { ...none, order_status: 'expired', payment_system: '' },
    { ...none, order_status: 'created', payment_system: '', rrn: '' },
    { order_status: 'reversed', tran_type: 'reverse', reversal_amount: '4999' },
    { reversal_amount: 100 },
    { actual_amount: '120', actual_currency: 'USD' },
    { actual_amount: '4999', actual_currency: 'USD', settlement_currency: 'EUR' },
    { ...none, actual_amount: '4999', actual_currency: 'UAH', payment_system: 'p24' },
    { rectoken: 'aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5', rectoken_lifetime: '01.01.2031 00:00:00' },
    { tran_type: 'verification', verification_status: 'verified', product_id: 'verification' },
    { tran_type: 'verification', verification_status: 'created', order_status: 'created' },
    { order_id: 'x-1', parent_order_id: paymentId },
    { parent_order_id: 'elsewhere-1' },
    { order_status: 'postponed' },
    { tran_type: 'p2p credit' },
    { settlement_date: '15.02.2026', settlement_currency: 'UAH', settlement_amount: '4800' },
    { additional_info: '{"capture_status":null,"note":"a|b"}' },
    { merchant_data: `{"customer":"${otherPaymentId}"}`, sender_account: '+380501234567' },
    { merchant_data: 'approved', response_description: 'declined' },
    { merchant_data: 'USD' },
    { actual_amount: '', actual_currency: '', merchant_data: 'USD' },
    { order_desc: 'Замовлення 7', x_new: '0', client_id: 'abc', zone: 'UA' },
    { order_desc: 'Замовлення 7\nчерез | риску', merchant_data: '|', zz: '1|2' },
    { response_description: 'Do not honor|05', merchant_data: '{"a":["b|c",\n"\u0085"]}' },
    { additional_info: '{\n"capture_status": null }' },
  ]
  for (const change of genuine) {
    assert.equal(verdictOn(signed({ ...paidOrder, ...change })), 'valid', JSON.stringify(change))
  }
})

test('each value that decides is refused under another name, or beside its like', () => {
  const cases: readonly (readonly [string, Parameters, string?])[] = [
    ['an order id that is not before the status', { order_idx: otherPaymentId }],
    ['a parameter between order and status', { order_src: 'web' }],
    ['a parameter between status and time', { order_statuses: 'x' }],
    ['a time in another spelling', { order_time: '2026-02-14 09:05:59' }],
    ['a number between merchant and order', { merchant_no: '77' }],
    ['a number before the amount', { ad: '77' }],
    ['a number before the charge', { pa: '77' }],
    ['a number before the reversed sum', { retries: '77' }],
    ['an amount that is no number', { amount: '49.99' }],
    ['an amount with a sign', { amount: '-4999' }],
    ['an unknown currency', { currency: 'XXZ', actual_currency: '' }],
    ['no merchant', { merchant_id: '' }],
    ['no charge', { payment_id: '', response_code: '' }],
    ['no result', { response_status: '' }],
    ['a second result', { response_description: 'success' }, 'fields_ambiguous'],
    ['an unknown result', { response_status: 'maybe' }],
    ['a second operation', { sender_account: 'reverse' }, 'fields_ambiguous'],
    [
      'a second verification',
      { verification_status: 'verified', zz: 'failed' },
      'fields_ambiguous',
    ],
    ['a verification elsewhere', { sender_account: 'verified' }],
    ['a second status and time', { aa: 'approved', ab: '14.02.2026 09:05:59' }, 'fields_ambiguous'],
    [
      'a second parent',
      { parent_order_id: otherPaymentId, parent_x: paymentId },
      'fields_ambiguous',
    ],
    ['an operation under another name', { tran_type: 'capture', sender_account: 'purchase' }],
    ['a parent under another name', { parent_order: otherPaymentId }],
    ['a third currency', { card_currency: 'EUR' }, 'fields_ambiguous'],
    ['information under another name', { additional_data: '{"capture_status":"hold"}' }],
    ['information that is no object', { additional_info: '[1]' }, 'additional_info_malformed'],
    ['information that is no JSON', { additional_info: '{a' }, 'additional_info_malformed'],
    ['a separator in what is read', { card_type: 'a|b' }, 'separator_in_value'],
    ['a separator in a token', { rectoken: 'aB3dE5fG|7hI9jK1l' }, 'separator_in_value'],
    ['a separator before the amount', { acs: 'a|b' }, 'separator_in_value'],
    ['a control character in what is read', { card_type: 'a\n' }, 'value_not_text'],
    ['a control character before the amount', { acs: 'a\u0001' }, 'value_not_text'],
    ['a number behind a separator, before the order', { order_desc: 'a|7' }],
    ['a currency behind a separator', { card_level: 'a|EUR|b' }, 'fields_ambiguous'],
    ['a result behind a separator', { merchant_data: 'a', rrn: 'a|success' }, 'fields_ambiguous'],
    ['an operation behind a separator', { sender_account: 'a|reverse' }, 'fields_ambiguous'],
  ]
  for (const [about, change, reason = 'fields_shifted'] of cases) {
    assert.equal(verdictOn(signed({ ...paidOrder, ...change })), reason, about)
  }
})

test('where no order is told of, a brace in the amount hides nothing', () => {
  assert.equal(verdictOn(signed({ amount: '{' })), 'valid')
  assert.equal(verdictOn(signed({ ad: '{' })), 'fields_shifted')
})

/** What decides nothing: at most, what is shown of a card. */
const free: ReadonlySet<string> = new Set([
  'approval_code',
  'card_bin',
  'card_type',
  'eci',
  'masked_card',
  'rrn',
  'sender_email',
  'settlement_amount',
])

test('two values merged, or one split, under the same signature are refused', () => {
  const pieces = piecesOf(paidOrder)
  const names = Object.keys(paidOrder)
    .toSorted()
    .filter((name) => paidOrder[name as keyof typeof paidOrder] !== '')
  const signature = signatureOver(pieces)
  for (let at = 0; at + 1 < pieces.length; at += 1) {
    const merged = Object.fromEntries(
      names.flatMap((name, index): [string, string][] => {
        if (index === at) return [[name, `${pieces[at]}|${pieces[at + 1]}`]]
        return index === at + 1 ? [] : [[name, pieces[index] ?? '']]
      }),
    )
    // Texts of which none decides anything are one text as well as two.
    const verdict = verdictOn({ ...merged, signature })
    const [first = '', second = ''] = names.slice(at)
    if (free.has(first) && free.has(second)) assert.equal(verdict, 'valid', first)
    else assert.match(verdict, /^(?:separator_in_value|fields_shifted)$/, first)
  }
})
