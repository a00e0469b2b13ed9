import assert from 'node:assert/strict'
import test from 'node:test'
import type { Database } from '../database/connect.ts'
import { silentLog } from '../kernel/log.ts'
import { createEventNumberer } from './number-events.ts'

test('a numbering that fails is tried again, and keeps no process that would end', async () => {
  const asked = Promise.withResolvers<void>()
  const database = {
    kind: 'postgres',
    get db(): never {
      asked.resolve()
      throw new Error('the database is closed')
    },
  } as unknown as Database
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
  const before = timers()
  const numberer = createEventNumberer({ database, log: silentLog })
  numberer.ask()
  await asked.promise
  await new Promise(setImmediate)
  // One of another file in this process may have ended.
  assert.ok(timers() <= before)
  await numberer.stop()
})
