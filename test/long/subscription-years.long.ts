import assert from 'node:assert/strict'
import { test } from 'node:test'
import { playOnDatabase } from '../subscriptions/years/play-on-database.ts'
import { onPostgres } from '../support/databases.ts'

/** What the lives have to meet, or they would prove little. */
const mustHappen = [
  'cut',
  'dump',
  'restore',
  'hold',
  'card removed',
  'cancel now',
  'pause',
  'resume',
  'change',
  'pay',
  'paid, unanswered',
  'never arrives',
  'debited after all',
  'declined, then paid',
  'refused',
  'closed',
]

onPostgres((engine) => {
  test('case 7: 100 subscriptions live for years, charged by three processes, and all holds', async (t) => {
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000))
    t.diagnostic(`seed ${seed}; the same again: SEED=${seed}`)
    const happened = await playOnDatabase(engine, { seed, histories: 100, years: 3, restores: 2 })
    t.diagnostic(JSON.stringify([...happened]))
    for (const what of mustHappen) assert.ok((happened.get(what) ?? 0) > 0, `${what} happened`)
  })
})
