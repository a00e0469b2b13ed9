import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUuid } from './uuid.ts'
import { namedUuid, timeInUuid } from './named-uuid.ts'

const time = new Date('2026-11-20T12:00:00Z')
const name = 'subscription/0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01/1'

test('a named id is the same for ever: this one was computed by another program', () => {
  assert.equal(namedUuid(time, name), '01a1f8d3-ea00-8b9b-ab55-f8ed87f750e1')
  assert.equal(namedUuid(new Date(0), ''), '00000000-0000-83b0-8442-98fc1c149afb')
})

test('it begins with its time, and other times and texts have other ids', () => {
  const ids = [
    namedUuid(time, name),
    namedUuid(time, `${name}0`),
    namedUuid(new Date(time.getTime() + 1), name),
  ]
  assert.ok(ids.every(isUuid))
  const times = ids.map((id) => timeInUuid(id).getTime())
  assert.deepEqual(times, [time.getTime(), time.getTime(), time.getTime() + 1])
  assert.equal(new Set(ids.map((id) => id.slice(14))).size, 2)
})

test('a text of any language is hashed as UTF-8', () => {
  assert.equal(namedUuid(new Date(0), 'підписка'), '00000000-0000-8008-a9cd-37081ed2c326')
})

test('version and variant are fixed, each of the other 74 bits is set in half of the ids', () => {
  const count = 4000
  const set = Array.from({ length: 128 }, () => 0)
  for (let i = 0; i < count; i += 1) {
    const bits = BigInt(`0x${namedUuid(time, `period/${i}`).replaceAll('-', '')}`)
    set.forEach((_, bit) => {
      set[bit] = (set[bit] ?? 0) + Number((bits >> BigInt(127 - bit)) & 1n)
    })
  }
  assert.deepEqual(set.slice(48, 52), [count, 0, 0, 0])
  assert.deepEqual(set.slice(64, 66), [count, 0])
  // Ten standard deviations: the hash is fixed, so the test says the same each time.
  const odd = [...set.slice(52, 64), ...set.slice(66)].filter(
    (times) => Math.abs(times - count / 2) > 5 * Math.sqrt(count),
  )
  assert.deepEqual(odd, [])
})

test('a time that does not fit into an id is refused', () => {
  for (const bad of [new Date(-1), new Date(Number.NaN), new Date(2 ** 48)]) {
    assert.throws(() => namedUuid(bad, name), RangeError)
  }
})
