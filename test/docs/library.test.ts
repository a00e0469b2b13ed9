import assert from 'node:assert/strict'
import test from 'node:test'
import { routes } from '../../src/http/api/routes.ts'
import { createBilling } from '../../src/index.ts'
import { filesIn, read } from '../tidy/source-files.ts'
import { entries, exportsOf } from './exports.ts'
import { codeIn, namesIn, section, tableRows } from './markdown.ts'

const page = read('docs/10-library.md')

for (const [entry, path] of Object.entries(entries)) {
  test(`docs/exports.md says of every export of ${entry} what its doc comment says`, () => {
    const rows = tableRows(section(read('docs/exports.md'), entry)).filter(([first = '']) =>
      first.startsWith('`'),
    )
    const listed = rows.map(([name = '', meaning]) => ({ name: codeIn(name)[0], meaning }))
    const all = exportsOf(path)
    const exported = [
      ...all.filter(({ kind }) => kind === 'value'),
      ...all.filter(({ kind }) => kind === 'type'),
    ].map(({ name, meaning }) => ({ name, meaning }))
    // To fix it: npm run tables
    assert.deepEqual(listed, exported)
    assert.ok(exported.every(({ meaning }) => meaning !== ''))
  })

  test(`the values of ${entry} are those that it has at run time`, async () => {
    const loaded = (await import(`../../${path}`)) as object
    const values = exportsOf(path).filter(({ kind }) => kind === 'value')
    assert.deepEqual(values.map(({ name }) => name).toSorted(), Object.keys(loaded).toSorted())
  })
}

/** `payments.create` for what lies one level down. */
function membersOf(value: object, prefix = ''): readonly string[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const isGroup = typeof member === 'object' && member !== null && !Array.isArray(member)
    return isGroup ? membersOf(member, `${prefix}${name}.`) : [prefix + name]
  })
}

test('docs/10-library.md lists every member of a billing, and no other', async () => {
  await using billing = createBilling({ database: { memory: true } })
  const listed = namesIn(section(page, 'A billing'))
  assert.deepEqual(listed.toSorted(), membersOf(billing).toSorted())
})

test('docs/10-library.md lists every route of the management API, and no other', () => {
  const listed = routes.map(
    ({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
  )
  assert.deepEqual(namesIn(section(page, 'Management API')).toSorted(), listed.toSorted())
})

test('docs/errors.md lists every status that an answer of ours has, and no other', () => {
  const sources = ['http', 'intake'].flatMap((folder) => filesIn(`src/${folder}`, /\.ts$/))
  const patterns = [/\bmessage\((\d{3}),/g, /^ {2}\w+: ([45]\d\d),$/gm]
  const found = sources.flatMap(({ text }) =>
    patterns.flatMap((pattern) => Array.from(text.matchAll(pattern), ([, status = '']) => status)),
  )
  const rows = tableRows(section(read('docs/errors.md'), 'HTTP answers')).slice(1)
  assert.deepEqual(
    rows.map(([status]) => status),
    [...new Set(found)].toSorted(),
  )
})
