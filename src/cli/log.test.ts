import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLog } from './log.ts'

test('once the log is written out, nothing of it keeps the process', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout')
  const before = timers()
  const { flush } = await openLog('warn')
  await flush()
  assert.deepEqual(timers(), before)
})
