import assert from 'node:assert/strict'
import test from 'node:test'
import { productFiles, read } from '../tidy/source-files.ts'
import { codeIn, namesIn, section, tableRows } from './markdown.ts'

const listed = namesIn(section(read('docs/5-operations.md'), 'Calls that need a person'))

test('docs/5-operations.md says what to do about every reason that needs a person', () => {
  const [, ...reasons] = tableRows(section(read('docs/states.md'), 'Reasons'))
  const marked = reasons.filter(([, , review]) => review !== '')
  const names = marked.flatMap(([reason = '']) => codeIn(reason))
  assert.ok(names.length > 10)
  assert.deepEqual(
    names.filter((name) => !listed.includes(name)),
    [],
  )
})

test('it says nothing of words that the program does not know', () => {
  const code = productFiles().map(({ text }) => text)
  const known = (word: string) => code.some((text) => text.includes(`'${word}'`))
  assert.deepEqual(
    listed.flatMap((name) => name.split(':')).filter((word) => !known(word)),
    [],
  )
})
