import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../../payments/outcome.ts'
import { maskToken, tokenReference } from '../signing/token-reference.ts'
import { invoiceId, paid, statedBy } from '../../../test/gateways/monobank/invoices.ts'
import { monobank } from './index.ts'

const cardToken = '67XZtXdR4NpKU3_of_a_card'
const walletData = { cardToken, walletId: 'customer-7', status: 'created' }
const paymentInfo = { maskedPan: '444403******1902', paymentSystem: 'visa', paymentMethod: 'apple' }

const card = {
  type: 'payment_method',
  status: 'attached',
  reference: tokenReference(cardToken),
  payment: { checkoutReference: invoiceId },
  customerReference: 'customer-7',
  details: { kind: 'card', brand: 'visa', lastFour: '1902' },
}

/** The outcomes, a card's token in clear. */
function stated(fields: object): readonly object[] {
  return statedBy({ walletData, paymentInfo, ...fields }).map(revealed)
}

function revealed(outcome: Outcome): object {
  if (outcome.type !== 'payment_method' || outcome.token === undefined) return outcome
  return { ...outcome, token: outcome.token.reveal() }
}

test('a saved card comes beside the payment, which stays what it was', () => {
  assert.deepEqual(stated({}), [paid, { ...card, token: cardToken }])
  assert.deepEqual(stated({ status: 'failure' }), [
    { ...paid, status: 'failed' },
    { ...card, token: cardToken },
  ])
})

test('a saved card counts before the payment has a result, too', () => {
  assert.deepEqual(stated({ status: 'processing' }), [{ ...card, token: cardToken }])
})

test('a card whose token is not there yet, or never will be, is none', () => {
  for (const status of ['new', 'failed', 'CREATED', undefined, null, 7]) {
    assert.deepEqual(stated({ walletData: { ...walletData, status } }), [paid])
  }
  for (const wallet of [undefined, null]) assert.deepEqual(stated({ walletData: wallet }), [paid])
})

test('a masked token stands for the same card and is no token', () => {
  const masked = { ...walletData, cardToken: maskToken(cardToken) }
  assert.deepEqual(stated({ walletData: masked }), [paid, card])
})

test('details that are not stated, or in no form that we know, are left out', () => {
  const details = (info: unknown) => {
    const [, outcome] = stated({ paymentInfo: info })
    return outcome !== undefined && 'details' in outcome && outcome.details
  }
  for (const info of [undefined, null, [], 'x', {}, { maskedPan: 7, paymentSystem: 7 }]) {
    assert.deepEqual(details(info), { kind: 'card' })
  }
  const odd = { maskedPan: '4444031234561902', paymentSystem: 'Visa Card' }
  assert.deepEqual(details(odd), { kind: 'card' })
  assert.deepEqual(details({ maskedPan: '4444******190' }), { kind: 'card' })
  assert.deepEqual(details({ maskedPan: '4444******1902 ' }), { kind: 'card' })
  assert.deepEqual(details({ paymentSystem: `v${'i'.repeat(32)}` }), { kind: 'card' })
  assert.deepEqual(details({ paymentSystem: '' }), { kind: 'card' })
  assert.deepEqual(details({ paymentSystem: 'mastercard' }), { kind: 'card', brand: 'mastercard' })
})

test('a wallet id that is no plain text is left out', () => {
  const { customerReference: _, ...unnamed } = card
  for (const walletId of [undefined, '', 7, 'a b', 'клієнт', 'a\n', 'x'.repeat(256)]) {
    const outcomes = stated({ walletData: { ...walletData, walletId } })
    assert.deepEqual(outcomes, [paid, { ...unnamed, token: cardToken }])
  }
})

test('a wallet in another shape is told, and the payment counts all the same', () => {
  const fault = (detail: string) => ({ type: 'ignored', reason: 'malformed_payload', detail })
  for (const wallet of [[], 'x', 7, true]) {
    assert.deepEqual(stated({ walletData: wallet }), [paid, fault('walletData')])
  }
  for (const token of [undefined, null, '', 7, [cardToken]]) {
    const wallet = { ...walletData, cardToken: token }
    assert.deepEqual(stated({ walletData: wallet }), [paid, fault('walletData.cardToken')])
  }
})

test('the token is masked wherever the callback is stored', () => {
  assert.deepEqual(monobank.secretFields, ['cardToken'])
})

test('no form of the outcome shows the token', () => {
  const shown = JSON.stringify(statedBy({ walletData }), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  assert.ok(!shown.includes(cardToken))
})
