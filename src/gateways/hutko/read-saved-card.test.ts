import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskToken, tokenReference } from '../signing/token-reference.ts'
import { meaningOf, type Parameters } from '../../../test/gateways/hutko/callbacks.ts'
import { bound, ignored, payment } from '../../../test/gateways/hutko/meanings.ts'

test('a card that is checked pays nothing, and is saved once it is verified', () => {
  const token = 'aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5'
  const check1 = { tran_type: 'verification', rectoken: token, verification_status: 'verified' }
  const none = ignored('no_outcome', 'verification approved')
  const [first, card, ...more] = meaningOf(check1)
  assert.deepEqual([first, more], [none, []])
  assert.ok(card?.type === 'payment_method')
  assert.equal(card.reference, tokenReference(token))
  assert.deepEqual(meaningOf({ ...check1, rectoken: '' }), [none])
  for (const verification_status of ['', 'created', 'incorrect', 'failed']) {
    assert.deepEqual(meaningOf({ ...check1, verification_status }), [none])
  }
  const declined = meaningOf({ ...check1, order_status: 'declined' })
  assert.deepEqual(declined, [ignored('no_outcome', 'verification declined')])
  const other = meaningOf({ ...check1, tran_type: 'p2p credit' })
  assert.deepEqual(other, [ignored('unhandled_event', 'tran_type p2p credit')])
})

test('a token is a saved card, shown by its last digits, and told only where it is clear', () => {
  const token = 'aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5'
  const cardOf = (change: Parameters) => {
    const [paid, card, ...more] = meaningOf(change)
    assert.deepEqual([paid, more], [payment('paid'), []])
    assert.ok(card?.type === 'payment_method')
    const { token: told, ...rest } = card
    return { told: told?.reveal(), rest }
  }
  const card = {
    type: 'payment_method',
    status: 'attached',
    reference: tokenReference(token),
    details: { kind: 'card', brand: 'mastercard', lastFour: '4309' },
    ...bound,
  }
  assert.deepEqual(cardOf({ rectoken: token }), { told: token, rest: card })
  assert.deepEqual(cardOf({ rectoken: maskToken(token) }), { told: undefined, rest: card })
  const plain = cardOf({ rectoken: token, masked_card: '4309', card_type: '' })
  assert.deepEqual(plain.rest, { ...card, details: { kind: 'card' } })
  for (const rectoken of ['', 'short', 'with a blank', 'x'.repeat(256)]) {
    assert.deepEqual(meaningOf({ rectoken }), [payment('paid')], rectoken)
  }
  for (const order_status of ['declined', 'expired', 'processing']) {
    const outcomes = meaningOf({ rectoken: token, order_status, reversal_amount: '1' })
    assert.ok(
      outcomes.every(({ type }) => type !== 'payment_method'),
      order_status,
    )
  }
})
