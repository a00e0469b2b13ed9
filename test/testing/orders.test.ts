import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everyOrder, shuffled } from '../../src/testing/index.ts'

test('everyOrder gives every order of the items once', () => {
  const orders = [...everyOrder(['a', 'b', 'c'])].map((order) => order.join(''))
  assert.deepEqual(orders, ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'])
  assert.equal(new Set([...everyOrder([1, 2, 3, 4, 5])].map(String)).size, 120)
  assert.deepEqual([...everyOrder([])], [[]])
})

test('shuffled keeps the items, and their order for a seed', () => {
  const items = Array.from({ length: 20 }, (_, index) => index)
  for (const seed of [0, 1, -7, 4.5, 2 ** 40]) {
    const order = shuffled(items, seed)
    assert.deepEqual(shuffled(items, seed), order)
    assert.deepEqual(
      order.toSorted((a, b) => a - b),
      items,
    )
  }
  assert.equal(new Set(items.map((seed) => shuffled(items, seed).join())).size, 20)
})
