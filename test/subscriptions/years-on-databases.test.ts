import { test } from 'node:test'
import { onAnyDatabase } from '../support/databases.ts'
import { playOnDatabase } from './years/play-on-database.ts'

onAnyDatabase((engine) => {
  test('case 7: subscriptions live for a year on a real database, whatever goes wrong', async () => {
    await playOnDatabase(engine, { seed: 1, histories: 3, years: 1, restores: 1 })
  })
})
