import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../src/database/connect.ts'
import { hours } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { startLanes } from '../../src/processing/lanes.ts'
import { until } from '../support/billing.ts'

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

test('a row that cost a worker its life is handled with nothing beside it, while others keep coming', async () => {
  const alone = [{ id: 'killer', token: 'x' }]
  const active = new Set<string>()
  let beside: readonly string[] | undefined
  let quick = 0
  const lanes = startLanes<{ id: string; token: string }>({
    table: 'billing.webhook_calls',
    database: {} as Database,
    log: silentLog,
    newId: newUuid,
    lanes: 4,
    ahead: 8,
    anyAlone: () => Promise.resolve(alone.length > 0),
    take: async (options) =>
      options.alone
        ? alone.splice(0, 1)
        : Array.from({ length: options.limit }, () => ({
            id: `quick ${(quick += 1)}`,
            token: 'y',
          })),
    handle: async (row) => {
      if (row.id === 'killer') beside = [...active]
      active.add(row.id)
      await pause(20)
      active.delete(row.id)
    },
  })
  await until(() => beside !== undefined, { what: 'the row is handled' })
  assert.deepEqual(beside, [])
  const before = quick
  await until(() => quick > before, { what: 'the others go on' })
  await lanes.stop(1_000)
})

test('many such rows follow each other in one turn', async () => {
  const alone = Array.from({ length: 100 }, (_, index) => ({ id: `${index}`, token: 'x' }))
  let handled = 0
  const looks: number[] = []
  const lanes = startLanes<{ id: string; token: string }>({
    table: 'billing.webhook_calls',
    database: {} as Database,
    log: silentLog,
    newId: newUuid,
    lanes: 4,
    ahead: 8,
    anyAlone: () => {
      looks.push(alone.length)
      return Promise.resolve(alone.length > 0)
    },
    take: async (options) => (options.alone ? alone.splice(0, 1) : []),
    handle: async () => void (handled += 1),
  })
  await until(() => handled === 100, { what: 'all are handled' })
  assert.deepEqual(looks, [100], 'after one look')
  await lanes.stop(1_000)
})

test('a row that is only slow does not keep it waiting for ever', async () => {
  const rows = [{ id: 'slow', token: 'y' }]
  const alone = [{ id: 'killer', token: 'x' }]
  const handled: string[] = []
  const slow = Promise.withResolvers<void>()
  const lanes = startLanes<{ id: string; token: string }>({
    table: 'billing.webhook_calls',
    database: {} as Database,
    log: silentLog,
    newId: newUuid,
    lanes: 2,
    ahead: 4,
    anyAlone: () => Promise.resolve(alone.length > 0),
    take: async (options) => (options.alone ? alone.splice(0, 1) : rows.splice(0, options.limit)),
    handle: async (row) => {
      if (row.id === 'slow') await slow.promise
      handled.push(row.id)
    },
  })
  await until(() => handled.includes('killer'), { what: 'the row is handled beside the slow one' })
  assert.deepEqual(handled, ['killer'])
  slow.resolve()
  await lanes.stop(1_000)
})
