import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCanonicalIds } from './canonical-ids.ts'

const id = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01'
const ID = id.toUpperCase()

test('what a gateway names by a UUID in capitals is what has that UUID', () => {
  const payment = { type: 'payment', status: 'paid' } as const
  assert.deepEqual(
    withCanonicalIds({ ...payment, payment: { id: ID }, claimed: { id: ID, by: 'payer' } }),
    { ...payment, payment: { id }, claimed: { id, by: 'payer' } },
  )
  const renewal = { ...payment, payment: { providerReference: ID }, renews: { id: ID } }
  assert.deepEqual(withCanonicalIds(renewal), { ...renewal, renews: { id } })
  const refund = { type: 'refund', status: 'paid', refundReference: ID } as const
  assert.deepEqual(withCanonicalIds({ ...refund, payment: { id: ID }, refundId: ID }), {
    ...refund,
    payment: { id },
    refundId: id,
  })
  assert.deepEqual(withCanonicalIds({ ...payment, payment: { id: 'X' } }).payment, { id: 'X' })
})
