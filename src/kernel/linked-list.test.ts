import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLinkedList } from './linked-list.ts'

test('items stand in the order in which they were appended', () => {
  const list = createLinkedList<string>()
  for (const item of ['a', 'b', 'c']) list.append(item)
  assert.deepEqual([...list], ['a', 'b', 'c'])
  assert.equal(list.size, 3)
  assert.equal(list.first?.item, 'a')
})

test('the first, the last and one between can be removed, and what is added then has its place', () => {
  const list = createLinkedList<string>()
  const [a, , c, , e] = ['a', 'b', 'c', 'd', 'e'].map((item) => list.append(item))
  for (const place of [a, c, e]) if (place !== undefined) list.remove(place)
  assert.deepEqual([...list], ['b', 'd'])
  list.append('f')
  assert.deepEqual([...list], ['b', 'd', 'f'])
  assert.equal(list.size, 3)
})

test('an item can be moved to the end, from wherever it stands', () => {
  const list = createLinkedList<string>()
  const [a, b, c] = ['a', 'b', 'c'].map((item) => list.append(item))
  assert.ok(a !== undefined && b !== undefined && c !== undefined)
  const moved = [a, c, b, b].map((place) => {
    list.moveToEnd(place)
    return [...list].join('')
  })
  assert.deepEqual(moved, ['bca', 'bac', 'acb', 'acb'])
  assert.equal(list.size, 3)
  for (const place of [a, b, c]) list.remove(place)
  assert.deepEqual([...list], [])
})

test('a list that has become empty begins anew', () => {
  const list = createLinkedList<string>()
  list.remove(list.append('a'))
  assert.deepEqual([...list], [])
  assert.equal(list.first, undefined)
  list.append('b')
  assert.deepEqual([...list], ['b'])
})

test('removing the same item twice changes nothing', () => {
  const list = createLinkedList<string>()
  const [a] = ['a', 'b'].map((item) => list.append(item))
  assert.ok(a !== undefined)
  list.remove(a)
  list.remove(a)
  assert.deepEqual([...list], ['b'])
  assert.equal(list.size, 1)
})

test('what was removed refers to nothing that is in the list', () => {
  const list = createLinkedList<string>()
  const [, b] = ['a', 'b', 'c'].map((item) => list.append(item))
  assert.ok(b !== undefined)
  list.remove(b)
  assert.deepEqual(b, { item: 'b', before: undefined, after: undefined })
})

test('the item at hand may be removed while one goes through the list', () => {
  const list = createLinkedList<string>()
  const places = new Map(['a', 'b', 'c'].map((item) => [item, list.append(item)]))
  const seen: string[] = []
  for (const item of list) {
    seen.push(item)
    const place = places.get(item)
    if (place !== undefined) list.remove(place)
  }
  assert.deepEqual(seen, ['a', 'b', 'c'])
  assert.equal(list.size, 0)
})
