import assert from 'node:assert/strict'
import test from 'node:test'
import { createGate } from './gate.ts'

test('four at a time; who waits is answered after a second, also while those four hang', async () => {
  const gate = createGate(async () => 'busy' as const)
  const hanging = Promise.withResolvers<string>()
  let begun = 0
  const work = () => {
    begun += 1
    return hanging.promise
  }
  const first = Array.from({ length: 4 }, () => gate(work))
  const late = await Promise.all(Array.from({ length: 3 }, () => gate(work)))
  assert.deepEqual(late, ['busy', 'busy', 'busy'])
  hanging.resolve('done')
  assert.deepEqual(await Promise.all(first), ['done', 'done', 'done', 'done'])
  // What was given up is not done later, and its place is free.
  assert.equal(await gate(async () => 'next'), 'next')
  assert.equal(begun, 4)
})

test('what fails has failed for whoever asked, and frees its place', async () => {
  const gate = createGate(async () => 'busy' as const)
  for (let index = 0; index < 8; index += 1) {
    await assert.rejects(
      gate(() => Promise.reject(new Error('no'))),
      /^Error: no$/,
    )
  }
  assert.equal(await gate(async () => 'next'), 'next')
})
