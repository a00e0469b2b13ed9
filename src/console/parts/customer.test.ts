import assert from 'node:assert/strict'
import { test } from 'node:test'
import { customerNameOf } from './customer.ts'

test('a customer is shown by e-mail, or by the id at the merchant, also by a number', () => {
  assert.equal(
    customerNameOf({ customer: { id: 42, email: 'olena@example.test' } }),
    'olena@example.test',
  )
  assert.equal(customerNameOf({ customer: { id: 'c-42', email: null } }), 'c-42')
  assert.equal(customerNameOf({ customer: { id: 42 } }), '42')
  assert.equal(customerNameOf({ customer: { id: 42, email: '' } }), '42')
  assert.equal(customerNameOf({ customer: { id: 0 } }), '0')
  for (const customer of [null, {}, { id: { of: 42 } }]) {
    assert.equal(customerNameOf({ customer }), undefined)
  }
})
