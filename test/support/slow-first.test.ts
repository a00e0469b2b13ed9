import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { slowFirst } from './slow-first.ts'

test('the slow test files begin, the others follow by name, and none is left out', () => {
  const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'])
  const ordered = slowFirst(files)
  assert.equal(ordered[0], 'test/faults/processes.test.ts')
  assert.deepEqual(ordered.toSorted(), files.toSorted())
})

test('a slow file that is gone must leave the list', () => {
  assert.throws(() => slowFirst(['test/cli/commands.test.ts']), /no such test file: test\/faults/)
})
