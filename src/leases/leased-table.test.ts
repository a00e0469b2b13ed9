import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLeaseLost, leaseLost } from './leased-table.ts'

test('a lost lease is an error of its own, and names its row', () => {
  const error = leaseLost({ id: '7', token: 'secret' })
  assert.equal(error.message, 'lease of 7 lost')
  assert.equal(error.name, 'LeaseLost')
  assert.equal(isLeaseLost(error), true)
  assert.equal(isLeaseLost(new Error('lease of 7 lost')), false)
  assert.equal(isLeaseLost({ name: 'LeaseLost' }), false)
})
