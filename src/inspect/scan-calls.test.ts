import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spellingsOf } from './scan-calls.ts'

test('what is plain ASCII has one spelling', () => {
  assert.deepEqual(spellingsOf('pi_3Mt'), ['pi_3Mt'])
})

test('quotes and backslashes are looked for as typed, and as they stand within a text', () => {
  assert.deepEqual(spellingsOf('{"a":1}'), ['{"a":1}', '{\\"a\\":1}'])
  assert.deepEqual(spellingsOf('C:\\x'), ['C:\\x', 'C:\\\\x'])
})

test('slashes, and all that is not ASCII, may be escaped, also both', () => {
  assert.deepEqual(spellingsOf('a/b'), ['a/b', 'a\\/b'])
  assert.deepEqual(spellingsOf('їж'), ['їж', '\\u0457\\u0436'])
  assert.deepEqual(spellingsOf('☺/J'), [
    '☺/J',
    '\\u263a/J',
    '\\u263A/J',
    '☺\\/J',
    '\\u263a\\/J',
    '\\u263A\\/J',
  ])
  assert.ok(spellingsOf('😀').includes('\\ud83d\\ude00'))
})
