import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paymentStatuses, type PaymentStatus } from './payment.ts'
import { decideRefund } from './refund-transition.ts'

/** From the row's status (down) to the reported one; `review`: ignored, and a person looks. */
const table: Readonly<Record<PaymentStatus, Readonly<Record<PaymentStatus, string>>>> = {
  pending: { pending: 'confirm', paid: 'move', failed: 'move', canceled: 'move' },
  paid: { pending: 'ignore', paid: 'confirm', failed: 'move', canceled: 'review' },
  failed: { pending: 'ignore', paid: 'review', failed: 'confirm', canceled: 'ignore' },
  canceled: { pending: 'ignore', paid: 'review', failed: 'ignore', canceled: 'confirm' },
}

for (const from of paymentStatuses) {
  for (const to of paymentStatuses) {
    test(`a refund that is ${from}, reported ${to} -> ${table[from][to]}`, () => {
      const decision = decideRefund(from, to)
      if (decision.kind !== 'ignore') {
        assert.equal(decision.kind, table[from][to])
        return
      }
      assert.equal(decision.review ? 'review' : 'ignore', table[from][to])
      assert.equal(decision.reason, 'already_settled')
    })
  }
}
