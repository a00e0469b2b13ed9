import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callStates } from '../../src/events/webhook-call.ts'
import { builtinSummaries as writtenSummaries } from '../../src/gateways/builtin-summaries.ts'
import { read } from '../tidy/source-files.ts'
import { statesUnder } from './diagrams.ts'
import { entries, exportsOf } from './exports.ts'
import { builtinSummaries } from './gateway-tables.ts'
import { filled, generated, tables } from './generated.ts'
import { paymentMoves, refundMoves } from './state-tables.ts'

/** Without what the formatter changes: how wide a column is, and where a line ends. */
function unformatted(text: string): readonly string[] {
  const lines = text
    .replaceAll(/[ ]*\|[ ]*/g, '|')
    .replaceAll(/\|-+(?=\|)/g, '|---')
    .split('\n')
  return lines.filter((line) => line !== '')
}

test('npm run tables changes nothing: the pages say what the code says', () => {
  for (const [path, text] of generated()) {
    // Formatted, it is written otherwise.
    if (path.endsWith('-summaries.ts')) assert.deepEqual(writtenSummaries, builtinSummaries)
    else assert.deepEqual(unformatted(read(path)), unformatted(text), path)
  }
})

test('no row of a page is without its words', () => {
  for (const table of tables) {
    // In the others the last column says that a person must look, or nothing.
    const { page, under, rows } = table
    const most = rows[0]?.at(-1) === 'Review' ? 2 : Infinity
    for (const [at, [name, ...cells]] of filled(table).entries()) {
      const isBlank = (cell: string, column: number) =>
        cell === '' && rows[at]?.[column + 1] === undefined && column + 1 < most
      assert.ok(!cells.some(isBlank), `${page}: ${under}: ${name} says nothing`)
    }
  }
})

for (const [entry, path] of Object.entries(entries)) {
  test(`${entry} exports the values that it has at run time, and says what each is`, async () => {
    const loaded = (await import(`../../${path}`)) as object
    const exported = exportsOf(path)
    const values = exported.filter(({ kind }) => kind === 'value')
    assert.deepEqual(values.map(({ name }) => name).toSorted(), Object.keys(loaded).toSorted())
    for (const { name, meaning } of exported) assert.notEqual(meaning, '', name)
  })
}

for (const [heading, moves] of [
  ['Payments', paymentMoves],
  ['Refunds', refundMoves],
] as const) {
  test(`the diagram of ${heading} has an arrow for every move, and no other`, () => {
    const arrows = statesUnder('docs/states.md', read('docs/states.md'), heading)
    const drawn = arrows.filter(({ from }) => from !== '[*]').map(({ from, to }) => [from, to])
    assert.deepEqual(drawn, moves)
  })
}

test('the diagram of the life of a call has every state of a call, and no other', () => {
  const page = 'docs/5-operations.md'
  const arrows = statesUnder(page, read(page), 'The life of a call')
  const drawn = new Set(arrows.flatMap(({ from, to }) => [from, to]))
  assert.deepEqual(drawn, new Set(['[*]', ...callStates]))
})
