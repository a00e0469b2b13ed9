import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  dateTime,
  digits,
  maskedCard,
  operations,
  statusWord,
  verificationWords,
} from './grammar.ts'

const grammars: readonly (readonly [string, RegExp, readonly string[], readonly string[]])[] = [
  ['a number', digits, ['0', '007', '917204418'], ['', '-1', '1.0', 'x1', '1x', '٤']],
  [
    'a time',
    dateTime,
    ['14.02.2026 09:05:59'],
    ['x14.02.2026 09:05:59', '14.02.2026 09:05:591', '14.02.2026', '2026-02-14 09:05:59', ''],
  ],
  [
    'a status',
    statusWord,
    ['approved', 'in_process', 'not_yet_known'],
    ['', 'Approved', ' approved', '1approved', 'approved1', '_a', 'a_', 'a__b', 'a_B', 'a-b'],
  ],
  [
    'a masked card',
    maskedCard,
    ['444455XXXXXX1111', '44445555xx1111', '444455*********1111'],
    ['x444455XXXXXX1111', '444455XXXXXX11112', '44445XXXXXX1111', '444455X1111', '4444551111'],
  ],
]
for (const [what, grammar, members, others] of grammars) {
  test(`${what} is known by its form, from end to end`, () => {
    for (const text of members) assert.ok(grammar.test(text), text)
    for (const text of others) assert.ok(!grammar.test(text), text)
  })
}

test('the words that decide are these and no others', () => {
  assert.deepEqual([...operations], ['purchase', 'reverse', 'verification'])
  assert.deepEqual([...verificationWords], ['created', 'failed', 'incorrect', 'verified'])
})
