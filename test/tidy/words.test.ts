import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesIn, productFiles, read, withoutComments, type SourceFile } from './source-files.ts'

/** Words that mean what another word says already: see the glossary in CONTRIBUTING. */
const leftOver: Readonly<Record<string, RegExp>> = {
  'dispatch, or say':
    /\b(?:told|telling)\b|\b(?:tell|told|telling)(?=[A-Z])|(?<=[a-z])(?:Tell|Told|Telling)(?=[A-Z]|\b)/,
  'finish, fail, return or afterCommit': /conclud(?:e|es|ed|ing)(?![a-z])/i,
  'defer or postpone': /put[- ]?off/i,
  'return or refuse': /turn(?:ed|s)?[- ]?away/i,
}

/** To settle is to decide a payment: what else is said to settle in code has another word. */
const settled = /(?<!all)settl/i

/** Where a payment is decided, and where a provider's own word is read. */
const ofPayments = /^src\/(?:payments|gateways|money)\//

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

for (const [instead, pattern] of Object.entries(leftOver)) {
  test(`no code or comment says what the glossary calls: ${instead}`, () => {
    assert.deepEqual(linesWith(pattern, productFiles()), [])
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
