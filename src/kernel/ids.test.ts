import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUuid, newUuid } from './ids.ts'

test('ids are unique, and sort in the order of their making, within a millisecond too', () => {
  const ids = Array.from({ length: 20_000 }, newUuid)
  assert.ok(ids.every(isUuid))
  assert.deepEqual([...new Set(ids)].toSorted(), ids)
})

test('an id begins with the time of its making', () => {
  const before = Date.now()
  const stated = Number.parseInt(newUuid().replaceAll('-', '').slice(0, 12), 16)
  assert.ok(stated >= before && stated <= Date.now(), `${stated}`)
})
