import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertIgnored,
  ignoredAs,
  interpret,
  paid,
  paidBefore,
  paymentId,
  account,
  refunded,
} from '../../../test/gateways/liqpay/callbacks.ts'
import { maskToken, tokenReference } from '../signing/token-reference.ts'

const payingActions = ['pay', 'hold', 'paysplit', 'paydonate', 'paytoken', 'subscribe']

const waitingStatuses =
  'hold_wait wait_accept wait_compensation wait_lc wait_secure wait_reserve wait_card processing ' +
  'prepared cash_wait invoice_wait try_again 3ds_verify otp_verify cvv_verify captcha_verify ' +
  'ivr_verify password_verify phone_verify pin_verify receiver_verify sender_verify ' +
  'senderapp_verify wait_qr wait_sender p24_verify mp_verify'

test('success is paid, and failure and error are failed, for every action that pays an order', () => {
  for (const action of payingActions) {
    assert.deepEqual(interpret({ action }), [paid], action)
    for (const status of ['failure', 'error']) {
      assert.deepEqual(interpret({ action, status }), [{ ...paid, status: 'failed' }], status)
    }
  }
})

test('a status without a result decides nothing, whatever the action', () => {
  const statuses = waitingStatuses.split(' ')
  assert.equal(statuses.length, 27)
  for (const status of statuses) {
    for (const action of ['pay', 'hold', 'regular', 'auth', 'new_action']) {
      assertIgnored({ action, status }, 'no_outcome', status)
    }
  }
})

test('blanks behind a status do not count, and nothing else is forgiven', () => {
  assertIgnored({ status: 'wait_accept ' }, 'no_outcome', 'wait_accept')
  assert.deepEqual(interpret({ status: 'success ' }), [paid])
  for (const status of ['Success', ' success', 'success.', 'paid', 'constructor', '__proto__']) {
    assertIgnored({ status }, 'unhandled_event', status)
  }
  assertIgnored({ status: 'x'.repeat(10_000) }, 'unhandled_event', `${'x'.repeat(99)}…`)
})

test('an action that we do not know pays, refuses and refunds nothing', () => {
  for (const action of ['p2p', 'refund', 'Pay', 'pay ', 'toString']) {
    for (const status of ['success', 'sandbox', 'failure', 'error', 'reversed']) {
      assertIgnored({ action, status, card_token: 'T1' }, 'unhandled_event', action)
    }
  }
})

test('the name of an unknown action is cut short', () => {
  assertIgnored({ action: 'x'.repeat(10_000) }, 'unhandled_event', `${'x'.repeat(99)}…`)
})

test('the key tells test from live mode, and the status sandbox is test money under any key', () => {
  const sandboxKey = 'sandbox_i48217365001'
  const cases = [
    [{ status: 'success' }, { ...paid, live: true }],
    [{ status: 'sandbox' }, { ...paid, live: false }],
    [{ public_key: sandboxKey }, { ...paid, merchantAccount: sandboxKey, live: false }],
    [
      { status: 'sandbox', public_key: sandboxKey },
      { ...paid, merchantAccount: sandboxKey, live: false },
    ],
    [
      { status: 'failure', public_key: sandboxKey },
      { ...paid, status: 'failed', merchantAccount: sandboxKey, live: false },
    ],
    [{ public_key: 'i_sandbox_1' }, { ...paid, merchantAccount: 'i_sandbox_1', live: true }],
  ] as const
  for (const [fields, outcome] of cases) assert.deepEqual(interpret(fields), [outcome])
})

test('a renewal is a payment of its own, and names the one that began the subscription', () => {
  const renewal = {
    ...paid,
    payment: { providerReference: '7310099999' },
    providerReference: '7310099999',
    renews: { id: paymentId },
  }
  const fields = { action: 'regular', payment_id: 7310099999 }
  assert.deepEqual(interpret(fields), [renewal])
  assert.deepEqual(interpret({ ...fields, status: 'failure' }), [{ ...renewal, status: 'failed' }])
  assert.deepEqual(interpret({ ...fields, status: 'sandbox' }), [{ ...renewal, live: false }])
  assertIgnored({ action: 'regular', payment_id: null }, 'malformed_payload', 'payment_id')
  assertIgnored({ action: 'regular', order_id: '42' }, 'invalid_reference', '42')
})

test('a refund of a renewal is about the renewal, never about the first payment', () => {
  const fields = { action: 'regular', status: 'reversed', payment_id: 7310099999 }
  const refund = { ...refunded, payment: { providerReference: '7310099999' } }
  const providerReference = '7310099999'
  const renewal = {
    ...paid,
    payment: { providerReference },
    providerReference,
    renews: { id: paymentId },
  }
  assert.deepEqual(interpret(fields), [renewal, refund])
  assert.deepEqual(interpret({ ...fields, refund_amount: 1.5 }), [
    renewal,
    { ...refund, refundedTotal: 150n },
  ])
})

test('a hold that is released was never paid, and one that was debited is refunded', () => {
  const released = { action: 'hold', status: 'reversed' }
  const canceled = { ...paid, status: 'canceled', ifPaid: 'review' }
  for (const date of [undefined, null, 0, '', '1763640000000', -1, true, []]) {
    assert.deepEqual(interpret({ ...released, completion_date: date }), [canceled], String(date))
  }
  assert.deepEqual(interpret({ ...released, refund_amount: 842.35 }), [canceled])
  const debited = { ...released, completion_date: 1763640000000 }
  assert.deepEqual(interpret(debited), [paidBefore, refunded])
  assert.deepEqual(interpret({ ...debited, refund_amount: 42.35 }), [
    paidBefore,
    { ...refunded, refundedTotal: 4235n },
  ])
  // Only a hold can be released.
  assert.deepEqual(interpret({ action: 'pay', status: 'reversed' }), [paidBefore, refunded])
})

test('checking a card pays nothing, and keeps the card', () => {
  const [checked, card, ...more] = interpret({ action: 'auth', card_token: 'T1' })
  assert.deepEqual(checked, ignoredAs('no_outcome', 'auth success'))
  assert.equal(card?.type, 'payment_method')
  assert.deepEqual(more, [])
  assertIgnored({ action: 'auth' }, 'no_outcome', 'auth success')
  for (const status of ['failure', 'reversed']) {
    assertIgnored({ action: 'auth', status, card_token: 'T1' }, 'no_outcome', `auth ${status}`)
  }
})

test('a subscription made or stopped is no payment', () => {
  const made = { action: 'subscribe', status: 'subscribed' }
  assertIgnored(made, 'unhandled_event', 'subscribed')
  const [event, card, ...more] = interpret({ ...made, card_token: 'T1' })
  assert.deepEqual(event, ignoredAs('unhandled_event', 'subscribed'))
  assert.equal(card?.type, 'payment_method')
  assert.deepEqual(more, [])
  const stopped = { action: 'subscribe', status: 'unsubscribed', card_token: 'T1' }
  assertIgnored(stopped, 'unhandled_event', 'unsubscribed')
})

const cardOf = (fields: Record<string, unknown>) => {
  const [, card] = interpret(fields)
  assert.ok(card?.type === 'payment_method')
  const { token, ...shown } = card
  return { token: token?.reveal(), shown }
}

test('a card that came with a payment is attached by its token’s fingerprint', () => {
  const attached = {
    type: 'payment_method',
    status: 'attached',
    reference: tokenReference('58D19A'),
    payment: { id: paymentId },
    details: { kind: 'card', brand: 'visa' },
    ...account,
  }
  const clear = cardOf({
    card_token: '58D19A',
    sender_card_type: 'VISA',
    sender_card_mask2: '414949*42',
  })
  assert.deepEqual(clear, { token: '58D19A', shown: attached })
  const masked = cardOf({ card_token: maskToken('58D19A'), sender_card_type: 'visa' })
  assert.deepEqual(masked, { token: undefined, shown: attached })
})

test('a card shows what the callback tells of it, and nothing else', () => {
  const cases = [
    [{}, { kind: 'card' }],
    [{ paytype: 'gpay' }, { kind: 'google_pay' }],
    [
      { paytype: 'apay', sender_card_type: 'mc' },
      { kind: 'apple_pay', brand: 'mastercard' },
    ],
    [{ sender_card_type: 'prostir' }, { kind: 'card', brand: 'prostir' }],
    [{ sender_card_type: 'constructor' }, { kind: 'card' }],
    [{ sender_card_type: 7, paytype: null, sender_card_mask2: [] }, { kind: 'card' }],
    [{ sender_card_mask2: '414949*1234' }, { kind: 'card', lastFour: '1234' }],
    [{ sender_card_mask2: '414949******1234' }, { kind: 'card', lastFour: '1234' }],
    [{ sender_card_mask2: '4149491234561234' }, { kind: 'card' }],
    [{ sender_card_mask2: '414949*12345' }, { kind: 'card' }],
    [{ sender_card_mask2: '414949*1234 ' }, { kind: 'card' }],
  ] as const
  for (const [fields, details] of cases) {
    assert.deepEqual(cardOf({ card_token: 'T1', ...fields }).shown.details, details)
  }
})

test('no card comes from a refusal, a foreign order, or a token that is none', () => {
  for (const token of [undefined, null, '']) {
    assert.deepEqual(interpret({ card_token: token }), [paid])
  }
  for (const token of [1, true, ['T1'], 'T 1', 'T1\n', 'ж', 'T'.repeat(256)]) {
    const outcomes = interpret({ card_token: token })
    assert.deepEqual(outcomes, [paid, ignoredAs('malformed_payload', 'card_token')])
  }
  assert.equal(cardOf({ card_token: 'T'.repeat(255) }).token, 'T'.repeat(255))
  const failed = { ...paid, status: 'failed' }
  assert.deepEqual(interpret({ status: 'failure', card_token: 'T1' }), [failed])
  assertIgnored({ order_id: '42', card_token: 'T1' }, 'invalid_reference', '42')
  const foreign = { order_id: '42', card_token: 'T1', action: 'auth' }
  assertIgnored(foreign, 'no_outcome', 'auth success')
})
