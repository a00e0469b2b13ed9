import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tally, type Counted } from './tally.ts'

test('a tally tells of the first at once, and of what follows once a minute while it goes on', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const told: Counted[] = []
  const counts = tally((counted) => told.push(counted))
  counts.add('a')
  assert.deepEqual(told.splice(0), [{ count: 1, names: { a: 1 } }])
  for (const name of ['a', 'b', 'a']) counts.add(name)
  t.mock.timers.tick(59_999)
  assert.deepEqual(told, [])
  t.mock.timers.tick(1)
  assert.deepEqual(told.splice(0), [{ count: 3, names: { a: 2, b: 1 } }])
  t.mock.timers.tick(60_000)
  assert.deepEqual(told, [], 'nothing to tell')
  counts.add('c')
  counts.add('c')
  assert.deepEqual(told.splice(0), [{ count: 1, names: { c: 1 } }])
  counts.end()
  assert.deepEqual(told.splice(0), [{ count: 1, names: { c: 1 } }])
  t.mock.timers.tick(120_000)
  assert.deepEqual(told, [])
})

test('a tally names twenty, however many there are', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const told: Counted[] = []
  const counts = tally((counted) => told.push(counted))
  counts.add('first')
  for (let index = 0; index < 1_000; index += 1) counts.add(`sender ${index}`)
  counts.add('sender 0')
  t.mock.timers.tick(60_000)
  assert.equal(told[1]?.count, 1_001)
  assert.equal(Object.keys(told[1].names).length, 20)
  assert.equal(told[1].names['sender 0'], 2)
})

test('a tally may tell of more than the first by themselves, and of the rest once a minute', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const told: (Counted | string)[] = []
  const counts = tally((counted) => told.push(counted), { single: 2 })
  const add = (times: number) => {
    for (let at = 1; at <= times; at += 1) counts.add('a', () => told.push(`a ${at}`))
  }
  add(5)
  assert.deepEqual(told.splice(0), ['a 1', 'a 2'])
  t.mock.timers.tick(60_000)
  assert.deepEqual(told.splice(0), [{ count: 3, names: { a: 3 } }])
  add(1)
  assert.deepEqual(told, [], 'it goes on')
  t.mock.timers.tick(60_000)
  assert.deepEqual(told.splice(0), [{ count: 1, names: { a: 1 } }])
  t.mock.timers.tick(60_000)
  add(1)
  assert.deepEqual(told, ['a 1'])
})
