import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exceptionLine } from './exception-line.ts'

test('the first line of an exception is shown, cut at 200 characters', () => {
  assert.deepEqual(exceptionLine('Error: deadlock\n    at grant (x.ts:1)'), {
    listener: null,
    line: 'Error: deadlock',
  })
  assert.equal(exceptionLine('x'.repeat(201)).line, 'x'.repeat(200))
  assert.equal(exceptionLine('x'.repeat(200)).line, 'x'.repeat(200))
  assert.equal(exceptionLine(`${'x'.repeat(199)}\u{1f600}`).line, `${'x'.repeat(199)}\u{fffd}`)
  assert.deepEqual(exceptionLine(''), { listener: null, line: '' })
})

test('the listener that threw stands apart, whatever its name holds', () => {
  assert.deepEqual(exceptionLine('in listener grant: Error: no: row'), {
    listener: 'grant',
    line: 'Error: no: row',
  })
  const text = 'in listener of: all: Error: no'
  assert.deepEqual(exceptionLine(text, ['of: all']), { listener: 'of: all', line: 'Error: no' })
  assert.deepEqual(exceptionLine('in listener cut off'), {
    listener: null,
    line: 'in listener cut off',
  })
})
