import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { en as paddleEn } from '../../../gateways/paddle/checkout-page/languages/en.ts'
import { uk as paddleUk } from '../../../gateways/paddle/checkout-page/languages/uk.ts'
import { en } from './en.ts'
import { languages } from './index.ts'

const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted()

/** What a person reads, without what is the same in all languages: names, acronyms. */
const words = (text: string) => text.replaceAll(/\{\w+\}|[A-Z_]{3,}\w*|JavaScript|Paddle/g, '')

const sets = [
  ...Object.entries(languages).map(([tag, texts]) => [`the pages in ${tag}`, en, texts] as const),
  ['the page of a gateway in uk', paddleEn, paddleUk],
] as const

for (const [what, english, texts] of sets) {
  test(`${what}: the same keys and placeholders as in English, and no text empty`, () => {
    assert.deepEqual(Object.keys(texts).toSorted(), Object.keys(english).toSorted())
    for (const [key, text] of Object.entries<string>(texts)) {
      const original = (english as Readonly<Record<string, string>>)[key] ?? ''
      assert.deepEqual(placeholders(text), placeholders(original), key)
      assert.notEqual(text.trim(), '', key)
      assert.equal(text, text.trim(), key)
    }
  })
}

test('nothing was left in English: each Ukrainian text has Cyrillic letters alone', () => {
  for (const text of [...Object.values(languages.uk), ...Object.values(paddleUk)]) {
    assert.match(words(text), /[а-яіїєґ]/i, text)
    assert.doesNotMatch(words(text), /[a-z]/i, text)
    assert.doesNotMatch(text, /[ыэъё]/i, text)
  }
})

test('every text is used', () => {
  const pages = new URL('..', import.meta.url)
  const code = globSync('*.ts', { cwd: pages })
    .map((file) => readFileSync(new URL(file, pages), 'utf8'))
    .join('\n')
  const unused = Object.keys(en).filter((key) => !code.includes(`'${key}'`))
  assert.deepEqual(unused, [])
})
