import assert from 'node:assert/strict'
import test from 'node:test'
import { read } from '../tidy/source-files.ts'
import { section, tableRows } from './markdown.ts'
import { metricTables } from './metric-tables.ts'

// To fix them: npm run tables

for (const { page, under, rows } of metricTables) {
  test(`${page} lists what the code knows under "${under}", and nothing else`, () => {
    assert.deepEqual(tableRows(section(read(page), under)), rows)
  })
}
