import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../src/database/connect.ts'
import { hours } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { startLanes } from '../../src/processing/lanes.ts'

test('a wake-up that comes while a look is under way is not lost', async () => {
  const waiting: { id: string; token: string }[] = []
  const handled: string[] = []
  const lanes = startLanes<{ id: string; token: string }>({
    table: 'billing.webhook_calls',
    database: {} as Database,
    log: silentLog,
    newId: newUuid,
    lanes: 2,
    ahead: 4,
    pollEvery: hours(1),
    anyAlone: () => Promise.resolve(false),
    take: async ({ alone, limit }) => {
      const seen = alone ? [] : waiting.splice(0, limit)
      await pause(50)
      return seen
    },
    handle: async (row) => void handled.push(row.id),
  })
  await pause(20)
  waiting.push({ id: 'early', token: 'x' })
  lanes.wake()
  await pause(500)
  await lanes.stop(0)
  assert.deepEqual(handled, ['early'])
})

test('a slow row holds up its own lane only', async () => {
  const waiting = [{ id: 'slow', token: 'x' }]
  const handled: string[] = []
  const slow = Promise.withResolvers<void>()
  const lanes = startLanes<{ id: string; token: string }>({
    table: 'billing.webhook_calls',
    database: {} as Database,
    log: silentLog,
    newId: newUuid,
    lanes: 2,
    ahead: 4,
    anyAlone: () => Promise.resolve(false),
    take: async ({ alone, limit }) => (alone ? [] : waiting.splice(0, limit)),
    handle: async (row) => {
      if (row.id === 'slow') await slow.promise
      handled.push(row.id)
    },
  })
  await pause(5_500)
  waiting.push({ id: 'quick', token: 'y' })
  lanes.wake()
  await pause(2_500)
  const meanwhile = [...handled]
  slow.resolve()
  await pause(100)
  await lanes.stop(0)
  assert.deepEqual(meanwhile, ['quick'])
})
