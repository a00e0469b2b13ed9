import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { FailedGroup } from '../inspect/failed-groups.ts'
import { judge, lookBy, mostUrgentFirst, fact } from './fact.ts'
import { allFacts } from './facts.ts'
import { mostlyOf } from './work-facts.ts'

const now = new Date('2026-11-30T12:00:00Z')
const look = () => lookBy((read) => read({} as Kysely<Tables>), { gateways: [], now })

const lateParcels = (...found: { waitedSeconds: number; from: string | null; since: Date }[]) =>
  fact({
    kind: 'late_parcels',
    find: async () => found,
    value: 'waitedSeconds',
    severity: { warning: 60, error: 300 },
    says: ({ waitedSeconds }) => `a parcel is late by ${waitedSeconds}`,
    more: ({ from, since }) => [from && `from ${from}`, `seen ${since} ago`],
    fix: () => 'Fetch it',
    check: 'parcels',
    well: (all) => `${all.length} on their way`,
    page: () => ['/parcels', 'parcels'],
  })

test('a fact is a warning beyond one threshold, an error beyond another, and else is well', async () => {
  const since = new Date('2026-11-30T11:58:00Z')
  const parcels = [60, 61, 300, 301].map((waitedSeconds) => ({ waitedSeconds, from: null, since }))
  const { wrong, well } = await judge(lateParcels(...parcels), look())
  assert.deepEqual(
    wrong.map(({ severity, says }) => [severity, says]),
    [
      ['warning', 'a parcel is late by 1 min'],
      ['warning', 'a parcel is late by 5 min'],
      ['error', 'a parcel is late by 5 min'],
    ],
  )
  assert.equal(well, '4 on their way')
  assert.deepEqual(
    mostUrgentFirst(wrong).map(({ found }) => found['waitedSeconds']),
    [301, 61, 300],
  )
})

test('operators are told more than others', async () => {
  const parcel = { waitedSeconds: 90, from: 'Lviv', since: new Date('2026-11-30T11:58:00Z') }
  const { wrong } = await judge(lateParcels(parcel), look())
  assert.deepEqual(
    wrong.map(({ says, text, fix }) => [says, text, fix]),
    [
      [
        'a parcel is late by 1 min',
        'a parcel is late by 1 min, from Lviv, seen 2 min ago',
        'Fetch it',
      ],
    ],
  )
})

test('a count ends at 10,000, any other figure is shown in full', async () => {
  const row = fact({
    kind: 'lost_parcels',
    find: async () => [10_000, 10_001, 250_000].map((count) => ({ count })),
    severity: 'info',
    says: ({ count }) => `lost: ${count}`,
    fix: () => 'Look for them',
    check: 'parcels',
    well: () => 'none is lost',
    page: () => ['/parcels', 'parcels'],
  })
  const { wrong } = await judge(row, look())
  assert.deepEqual(
    wrong.map(({ says }) => says),
    ['lost: 10,000', 'lost: 10,000+', 'lost: 250,000'],
  )
})

test('a look reads once, however many facts need it', async () => {
  let asked = 0
  const read = async () => (asked += 1)
  const { ask } = look()
  assert.deepEqual([await ask(read), await ask(read), await look().ask(read)], [1, 1, 2])
})

test('no two facts have a gauge or an alert of one name', () => {
  const gauges = allFacts.flatMap(({ gauge }) => gauge?.name ?? [])
  const alerts = allFacts.flatMap((row) => (row.alerts ?? []).map(({ name }) => name))
  assert.equal(new Set(gauges).size, gauges.length)
  assert.equal(new Set(alerts).size, alerts.length)
})

test('what failed did so mostly where more than half of it did', () => {
  const one = (listener: string | null, count: number): FailedGroup => ({
    kind: 'call',
    gateway: 'own',
    error: 'Error: no',
    listener,
    count,
    newestAt: now,
    ids: [],
  })
  assert.equal(mostlyOf([one('grant', 2), one(null, 1)]), 'grant')
  assert.equal(mostlyOf([one('mail', 1), one('crm', 1)]), null)
  assert.equal(mostlyOf([]), null)
})
