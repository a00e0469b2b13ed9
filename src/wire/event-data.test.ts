import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventDataView } from './event-data.ts'

test('a part of an event is in JSON as a fact is', () => {
  const startsAt = new Date('2026-11-30T09:00:00Z')
  const sent = eventDataView({ lastWindow: { startsAt, mostUnits: 5n }, payment: null })
  assert.deepEqual(sent, {
    last_window: { starts_at: '2026-11-30T09:00:00.000Z', most_units: 5 },
    payment: null,
  })
})
