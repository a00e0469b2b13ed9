import assert from 'node:assert/strict'
import test from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import { builtinSummaries as writtenSummaries } from '../../src/gateways/builtin-summaries.ts'
import { read } from '../tidy/source-files.ts'
import { builtinSummaries, exampleVariables, gatewayTables } from './gateway-tables.ts'
import { codeIn, section, tableRows } from './markdown.ts'

// To fix them: npm run tables

for (const { page, under, rows } of gatewayTables) {
  test(`${page} says of every gateway under "${under}" what the code says`, () => {
    const [, after = ''] = read(page).split(`# ${under}\n`)
    const [table = ''] = /(?:^\|.*\n)+/m.exec(after) ?? []
    assert.deepEqual(tableRows(table), rows)
  })
}

test('.env.example ends with the settings of every gateway', () => {
  assert.ok(read('.env.example').endsWith(`\n\n${exampleVariables}\n`))
})

test('help knows of every gateway what the code says', () => {
  assert.deepEqual(builtinSummaries, writtenSummaries)
})

test('the README names every gateway, and no other', () => {
  const [named = ''] = section(read('README.md'), 'Gateways').split(':')
  assert.deepEqual(
    codeIn(named),
    builtin.map(({ name }) => name),
  )
})
