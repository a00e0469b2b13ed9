import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flag, orNull, part, time, units } from './noun.ts'
import { readFields, writeFields } from './stored-fields.ts'

const fields = { window: orNull(part({ startsAt: time(), mostUnits: units(), isOver: flag() })) }

test('a part is stored and read back with all that it holds', () => {
  const window = { startsAt: new Date('2026-11-30T09:00:00Z'), mostUnits: 2n ** 60n, isOver: false }
  const stored: unknown = JSON.parse(JSON.stringify(writeFields(fields, { window })))
  assert.deepEqual(stored, {
    window: { starts_at: '2026-11-30T09:00:00.000Z', most_units: `${2n ** 60n}`, is_over: false },
  })
  assert.deepEqual(readFields(fields, stored as {}), { read: { window } })
  assert.deepEqual(readFields(fields, writeFields(fields, { window: null })).read, { window: null })
})

test('a part that lacks something is no value', () => {
  assert.equal(readFields(fields, { window: { starts_at: 'today' } }).fault, 'window')
})
