import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buyerOf } from './draft-invoice.ts'

test('an address of a customer is a list of lines, however it is given', () => {
  for (const [address, lines] of [
    ['7 Horodotska St', ['7 Horodotska St']],
    ['7 Horodotska St\r\n79007 Lviv\n', ['7 Horodotska St', '79007 Lviv']],
    [
      ['7 Horodotska St\n79007 Lviv', 7, 'Ukraine'],
      ['7 Horodotska St', '79007 Lviv', 'Ukraine'],
    ],
  ] as const) {
    assert.deepEqual(buyerOf({ address }), { address: lines })
  }
  for (const address of ['', ' \n', [], [7], 7, null, { city: 'Lviv' }]) {
    assert.equal(buyerOf({ address }), null)
  }
})

test('a buyer has the name that the customer has, whole or in two fields', () => {
  const parts = { first_name: 'Olena', last_name: 'Koval' }
  assert.deepEqual(buyerOf(parts), { name: 'Olena Koval' })
  assert.deepEqual(buyerOf({ ...parts, company: 'Koval LLC' }), { name: 'Koval LLC' })
  assert.deepEqual(buyerOf({ last_name: 'Koval', first_name: 7 }), { name: 'Koval' })
  assert.equal(buyerOf({ first_name: '', last_name: null }), null)
  // A form that nobody has filled in.
  assert.deepEqual(buyerOf({ ...parts, name: ' ', company: '' }), { name: 'Olena Koval' })
  assert.equal(buyerOf({ first_name: ' ', last_name: ' ' }), null)
})
