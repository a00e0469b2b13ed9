import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detail } from '../gateways/detail.ts'
import { exceptionText } from './exception-text.ts'
import { safeError } from './safe-error.ts'
import { scrubber, secret } from './secret.ts'

const keep = (text: string) => text
const scrub = scrubber([secret('whsec_canary_0123456789'), secret('testtesttesttest')])

test('an exception is stored with its message, stack and causes', () => {
  const error = new Error('outer', { cause: new TypeError('inner') })
  const text = exceptionText(error, keep)
  assert.match(text, /^Error: outer\n\s+at /)
  assert.match(text, /\ncaused by: TypeError: inner\n\s+at /)
})

test('it is cut at 16 KB, never inside a character', () => {
  const text = exceptionText(new Error('ї'.repeat(20_000)), keep)
  assert.ok(Buffer.byteLength(text) <= 16 * 1024)
  assert.ok(text.endsWith('ї\n[cut]'))
})

test('no part of a secret stays where a text is cut, by us or before we get it', () => {
  for (let before = 16_300; before < 16_400; before += 1) {
    const text = exceptionText(`${'x'.repeat(before)}whsec_canary_0123456789`, scrub)
    assert.ok(!text.includes('whsec'), `${before} characters before it`)
  }
  for (let before = 70; before < 100; before += 1) {
    const error = new Error(
      `it said ${detail(`${'x'.repeat(before)} whsec_canary_0123456789`)} at once`,
    )
    assert.doesNotMatch(exceptionText(error, scrub), /whsec_ca/, `${before} characters before it`)
  }
  // It may repeat itself.
  assert.equal(scrub(detail(`${'x'.repeat(86)}testtesttesttest`)), `${'x'.repeat(86)}[secret]…`)
})

for (const [what, thrown, expected] of [
  ['null', null, 'null'],
  ['undefined', undefined, 'undefined'],
  ['a text', 'no stock', 'no stock'],
  ['an object without a prototype', Object.create(null), '[object Object]'],
  ['a NUL character', 'a\u0000b', 'a\uFFFDb'],
] as const) {
  test(`${what} can be thrown, and becomes ${JSON.stringify(expected)}`, () => {
    assert.equal(exceptionText(thrown, keep), expected)
  })
}

test('what is logged of an error has no secret and nothing that drivers hang on it', () => {
  const client = { connectionParameters: { password: 'hunter2hunter2' } }
  const error = Object.assign(new Error('bad key whsec_canary_0123456789'), {
    code: 'ECONNRESET',
    client,
  })
  const logged = JSON.stringify(safeError(error, scrub))
  assert.ok(!logged.includes('whsec_canary'))
  assert.ok(!logged.includes('hunter2'))
  assert.ok(logged.includes('ECONNRESET'))
})
