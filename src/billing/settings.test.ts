import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from './settings.ts'

test('a blank URL of the database counts as not set', () => {
  for (const url of ['', ' ']) {
    assert.deepEqual(readSettings({ database: { url, poolSize: 3 } }).database, { poolSize: 3 })
    const inProduction = () => readSettings({ database: { url }, production: true })
    assert.throws(inProduction, { code: 'embedded_in_production' })
  }
})
