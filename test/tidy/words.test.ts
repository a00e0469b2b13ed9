import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  filesIn,
  productFiles,
  read,
  topFiles,
  withoutComments,
  type SourceFile,
} from './source-files.ts'

/** In tests somebody may be told something; in the product it is dispatched or reported. */
const told =
  /\b(?:told|telling)\b|\b(?:tell|told|telling)(?=[A-Z])|(?<=[a-z])(?:Tell|Told|Telling)(?=[A-Z]|\b)/

/** Words that mean what another word says already: see the glossary in CONTRIBUTING. */
const leftOver: Readonly<Record<string, RegExp>> = {
  'finish, fail, return or afterCommit': /conclud(?:e|es|ed|ing)(?![a-z])/i,
  'defer or postpone': /put[- ]?off/i,
  'return or refuse': /turn(?:ed|s)?[- ]?away/i,
}

/** To settle is to decide a payment: what else is said to settle in code has another word. */
const settled = /(?<!all)settl/i

/** Where a payment is decided, where a provider's own word is read, and where reasons are spelt. */
const ofPayments = /^src\/(?:payments|gateways|money|console\/words)\//

function withoutStrings(text: string): string {
  return text.replaceAll(/'[^'\n]*'|`[^`]*`/g, "''")
}

function linesWith(pattern: RegExp, files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter((line) => pattern.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
}

/** Code, comments and the names of tests, and what people read; not this file. */
function everything(): readonly SourceFile[] {
  const folders = ['src', 'test', 'bench', 'examples', 'docs']
  const files = folders.flatMap((folder) => filesIn(folder, /\.(?:ts|md)$/))
  return [...files, ...topFiles(/^(?:README|CONTRIBUTING|SECURITY)\.md$/)].filter(
    ({ path }) => !path.includes('node_modules/') && path !== 'test/tidy/words.test.ts',
  )
}

test('no code or comment of the product says what the glossary calls: dispatch, or say', () => {
  assert.deepEqual(linesWith(told, productFiles()), [])
})

for (const [instead, pattern] of Object.entries(leftOver)) {
  test(`nothing says what the glossary calls: ${instead}`, () => {
    assert.deepEqual(linesWith(pattern, everything()), [])
  })
}

test('to settle is said of payments alone', () => {
  const others = productFiles().filter(({ path }) => !ofPayments.test(path))
  const code = others.map(({ path, text }) => ({
    path,
    text: withoutStrings(withoutComments(text)),
  }))
  const found = linesWith(settled, code)
  assert.deepEqual(found, [])
})

test('no type is named by what somebody is doing', () => {
  const nouns = /(?:Billing|Binding|Finding|Meaning|Standing|String|Setting|Thing)$/
  const found = productFiles().flatMap(({ path, text }) =>
    [...withoutComments(text).matchAll(/^(?:export )?(?:interface|type) (\w+ing)\b/gm)]
      .filter(([, name = '']) => !nouns.test(name))
      .map(([, name]) => `${path}: ${name}`),
  )
  assert.deepEqual(found, [])
})

test('the glossary has each word once, and the code uses each', () => {
  const rows = read('CONTRIBUTING.md').split('## Words')[1]?.split('\n## ')[0] ?? ''
  const words = [...rows.matchAll(/^\| ([^|]+?) +\|/gm)]
    .flatMap(([, cell = '']) => cell.split(', '))
    .map((word) => word.replace(/^to /, ''))
    .filter((word) => word !== 'Word' && !/^-+$/.test(word))
  assert.ok(words.length > 20)
  assert.deepEqual(words, [...new Set(words)])
  const code = filesIn('src', /\.ts$/)
    .map(({ text }) => text.toLowerCase())
    .join('\n')
  const stem = (word: string) => word.split(' ')[0]?.replace(/(?:e|y)$/, '') ?? word
  assert.deepEqual(
    words.filter((word) => !code.includes(stem(word))),
    [],
  )
})
