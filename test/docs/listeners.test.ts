import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryDelay } from '../../src/queue/retry.ts'
import { filesIn, read, type SourceFile } from '../tidy/source-files.ts'
import { codeBlocks, pages } from './markdown.ts'

const readmes = filesIn('src/gateways', /\.md$/)
const blocks = [...pages(), ...readmes].flatMap((page) => codeBlocks(page))
const shown: readonly Pick<SourceFile, 'path' | 'text'>[] = [
  ...blocks.map(({ path, code: text }) => ({ path, text })),
  ...filesIn('examples', /\.(?:ts|py|php)$/),
]

/** Where a listener, or a reader of events, begins. */
const begins =
  /(?=\bbilling\.on\()|(?=\bon: )|(?=\bdef take\b)|(?=\bfunction take\b)|(?=\bfor await )/

const usesId = /\bpayable\.id\b|\["payable"\]\["id"\]|\['payable'\]\['id'\]/
const looksAtType = /\bpayable\.type\b|\["payable"\]\["type"\]|\['payable'\]\['type'\]/

test('every shown listener looks at the type of a payable before it uses the id', () => {
  const listeners = shown.flatMap(({ path, text }) =>
    text
      .split(begins)
      .slice(1)
      .map((code) => ({ path, code })),
  )
  const using = listeners.filter(({ code }) => usesId.test(code))
  assert.ok(using.length > 25, `only ${using.length} listeners use it`)
  const blind = using.filter(({ code }) => !looksAtType.test(code))
  assert.deepEqual(
    blind.map(({ path, code }) => `${path}: ${code.split('\n', 1)[0]}`),
    [],
  )
})

test('the pages say how long after a failed attempt the next one follows', () => {
  const waits = [1, 2].map((attempt) => (retryDelay(attempt) ?? 0) / 1_000)
  for (const path of ['docs/4-listeners.md', 'docs/5-operations.md']) {
    const text = read(path).replaceAll(/\s+/g, ' ')
    assert.ok(text.includes(`${waits.join(' and ')} seconds`), `${path}: ${waits.join(', ')}`)
  }
  assert.equal(retryDelay(3), undefined, 'docs/4-listeners.md says that there are three attempts')
})
