import assert from 'node:assert/strict'
import { test } from 'node:test'
import { syncQueue } from './sync-queue.ts'

test('calls are taken by the request itself; workers of this process are woken for the rest', async () => {
  const queue = syncQueue()
  assert.deepEqual([queue.name, queue.inline], ['sync', true])
  const woken: string[] = []
  const leave = await queue.subscribe(() => woken.push('one'))
  await queue.subscribe(() => woken.push('two'))
  await queue.announce()
  await queue.flushed()
  assert.deepEqual(woken, ['one', 'two'])
  await leave()
  await queue.announce()
  assert.deepEqual(woken, ['one', 'two', 'two'])
})
