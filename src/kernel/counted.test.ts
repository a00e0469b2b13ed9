import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counted } from './counted.ts'

test('only one of a thing is singular', () => {
  const said = [0, 1, 2, 21].map((count) => counted(count, 'failed attempt'))
  assert.deepEqual(said, [
    '0 failed attempts',
    '1 failed attempt',
    '2 failed attempts',
    '21 failed attempts',
  ])
})
