import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLog } from './log.ts'

test('once the log is written out, nothing of it keeps the process', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
  const before = timers()
  const { flush } = await openLog('warn')
  await flush()
  // One of another file in this process may have ended.
  assert.ok(timers() <= before)
})
