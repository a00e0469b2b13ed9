import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { idAt, newUuid, timeOfId } from './ids.ts'
import { isUuid, readUuid } from './uuid.ts'

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

test('the id of a time comes after all that were made before, and before all others', () => {
  const madeBefore = idAt(new Date(1_766_000_000_123))
  const time = new Date(1_766_000_000_124)
  const first = idAt(time)
  assert.ok(isUuid(first))
  assert.ok(madeBefore < first)
  const now = new Date()
  const made = newUuid()
  assert.ok(idAt(now) <= made && made < idAt(new Date(now.getTime() + 60_000)))
  assert.equal(idAt(time), first)
  assert.ok(idAt(new Date(-1)) < first)
})

test('after the clock went back a little ids go on in order; of one far ahead nothing is kept', () => {
  const now = Date.now() + 3_600_000
  mock.timers.enable({ apis: ['Date'], now })
  try {
    const first = newUuid()
    mock.timers.setTime(now - 300_000)
    const second = newUuid()
    assert.ok(first < second && timeOfId(second) === now)
    mock.timers.setTime(now - 300_001)
    assert.equal(timeOfId(newUuid()), now - 300_001)
  } finally {
    mock.timers.reset()
  }
  assert.ok(timeOfId(newUuid()) <= Date.now())
})

test('a UUID is the same in capitals; other spellings are none', () => {
  const id = newUuid()
  for (const text of [id, id.toUpperCase()]) assert.equal(readUuid(text), id)
  const others = [`{${id}}`, `urn:uuid:${id}`, ` ${id}`, `${id}\n`, id.replaceAll('-', ''), '', 7]
  for (const text of others) assert.equal(readUuid(text), undefined)
})
