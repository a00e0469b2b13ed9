import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { isCharged } from './payload.ts'

test('the money of a transaction was taken where it is paid or completed, and never else', () => {
  for (const status of ['paid', 'completed']) {
    assert.equal(isCharged(new Map([['status', status]])), true, status)
  }
  const others = ['draft', 'ready', 'billed', 'past_due', 'canceled', 'unpaid', 'paid_', 'PAID', '']
  for (const status of [...others, null, true, ['paid'], new Map([['paid', 'paid']])]) {
    assert.equal(isCharged(new Map([['status', status]])), false, inspect(status))
  }
  assert.equal(isCharged(new Map([['state', 'paid']])), false, 'no status')
})
