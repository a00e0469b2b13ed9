import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { webhookCalls } from '../../src/queue/calls.ts'
import type { Database } from '../../src/database/connect.ts'
import { hours } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { startLanes, type Lanes, type LanesOptions } from '../../src/worker/lanes.ts'
import { until } from '../support/billing.ts'

interface Row {
  readonly id: string
  readonly token: string
}

const rowOf = (id: string): Row => ({ id, token: 'x' })

/** Lanes over rows in memory; those in `alone` cost a worker its life before. */
function start(
  rows: { readonly waiting?: Row[]; readonly alone?: Row[] },
  options: Pick<LanesOptions<Row>, 'handle'> & Partial<LanesOptions<Row>>,
): Lanes<Row> {
  const { waiting = [], alone = [] } = rows
  return startLanes<Row>({
    table: webhookCalls,
    // Only reached to extend and release leases, which these rows do not have.
    database: {} as Database,
    log: silentLog,
    newId: newUuid,
    least: 2,
    most: 2,
    anyAlone: () => Promise.resolve(alone.length > 0),
    take: (take) =>
      Promise.resolve(take.alone ? alone.splice(0, 1) : waiting.splice(0, take.limit)),
    ...options,
  })
}

// They wait for seconds of real time, and have nothing in common: all at the same time.
suite('lanes', { concurrency: true }, () => {
  test('a wake-up that comes while a look is under way is not lost', async () => {
    const waiting: Row[] = []
    const handled: string[] = []
    const lanes = start(
      {},
      {
        pollEvery: hours(1),
        take: async ({ limit }) => {
          const seen = waiting.splice(0, limit)
          await pause(50)
          return seen
        },
        handle: async (row) => void handled.push(row.id),
      },
    )
    await pause(20)
    waiting.push(rowOf('early'))
    lanes.wake()
    await until(() => handled.length === 1, { what: 'it is handled' })
    await lanes.stop(0)
  })

  test('a slow row holds up its own lane only', async () => {
    const waiting = [rowOf('slow')]
    const handled: string[] = []
    const slow = Promise.withResolvers<void>()
    const lanes = start(
      { waiting },
      {
        handle: async (row) => {
          if (row.id === 'slow') await slow.promise
          handled.push(row.id)
        },
      },
    )
    // Past the moment at which the lanes look for rows that must run alone.
    await pause(5_500)
    waiting.push(rowOf('quick'))
    lanes.wake()
    await until(() => handled.length === 1, { what: 'the quick one is handled' })
    assert.deepEqual(handled, ['quick'])
    slow.resolve()
    await lanes.stop(1_000)
  })

  test('a row that cost a worker its life is handled with nothing beside it, while others keep coming', async () => {
    const active = new Set<string>()
    let beside: readonly string[] | undefined
    let quick = 0
    const alone = [rowOf('killer')]
    const lanes = start(
      { alone },
      {
        take: async (take) =>
          take.alone
            ? alone.splice(0, 1)
            : Array.from({ length: take.limit }, () => rowOf(`quick ${(quick += 1)}`)),
        handle: async (row) => {
          if (row.id === 'killer') beside = [...active]
          active.add(row.id)
          await pause(20)
          active.delete(row.id)
        },
      },
    )
    await until(() => beside !== undefined, { what: 'the row is handled' })
    assert.deepEqual(beside, [])
    const before = quick
    await until(() => quick > before, { what: 'the others go on' })
    await lanes.stop(1_000)
  })

  test('rows that wait are not passed over for ever by those that are handed over', async () => {
    const waiting: Row[] = []
    const handled = new Set<string>()
    let given = 0
    const lanes = start(
      { waiting },
      {
        least: 16,
        most: 16,
        pollEvery: 100,
        // One by one: those that wait are never few when the next ones are handed over.
        handle: async ({ id }) => {
          await pause(20 + 5 * (handled.size % 16))
          handled.add(id)
        },
      },
    )
    const fill = () => {
      const rows = Array.from({ length: lanes.room() }, () => rowOf(`given ${(given += 1)}`))
      lanes.give(rows)
    }
    const filling = setInterval(fill, 1)
    try {
      await until(() => handled.size > 50, { what: 'some are handled' })
      waiting.push(rowOf('old'))
      await until(() => handled.has('old'), { what: 'it is handled' })
      const before = given
      await until(() => given > before, { what: 'others are handed over again' })
    } finally {
      clearInterval(filling)
      await lanes.stop(1_000)
    }
  })

  test('rows that are handed over wait for the end of such a row', async () => {
    const handled: string[] = []
    const begun = Promise.withResolvers<void>()
    const survived = Promise.withResolvers<void>()
    const lanes = start(
      { alone: [rowOf('killer')] },
      {
        handle: async ({ id }) => {
          if (id === 'killer') {
            begun.resolve()
            await survived.promise
          }
          handled.push(id)
        },
      },
    )
    await until(() => lanes.room() > 0, { what: 'there is room' })
    await begun.promise
    assert.equal(lanes.room(), 0)
    // Planned when there was room.
    lanes.give([rowOf('given')])
    await pause(50)
    assert.deepEqual(handled, [])
    survived.resolve()
    await until(() => handled.length === 2, { what: 'both are handled' })
    assert.deepEqual(handled, ['killer', 'given'])
    await lanes.stop(1_000)
  })

  test('many such rows follow each other in one turn', async () => {
    const alone = Array.from({ length: 100 }, (_, index) => rowOf(`${index}`))
    const looks: number[] = []
    let handled = 0
    const lanes = start(
      { alone },
      {
        anyAlone: () => {
          looks.push(alone.length)
          return Promise.resolve(alone.length > 0)
        },
        handle: async () => void (handled += 1),
      },
    )
    await until(() => handled === 100, { what: 'all are handled' })
    assert.deepEqual(looks, [100], 'after one look')
    await lanes.stop(1_000)
  })

  test('a row that is only slow does not keep them waiting for ever', async () => {
    const handled: string[] = []
    const slow = Promise.withResolvers<void>()
    const lanes = start(
      { waiting: [rowOf('slow')], alone: [rowOf('killer')] },
      {
        handle: async (row) => {
          if (row.id === 'slow') await slow.promise
          handled.push(row.id)
        },
      },
    )
    await until(() => handled.length === 1, { what: 'the row is handled beside the slow one' })
    assert.deepEqual(handled, ['killer'])
    slow.resolve()
    await lanes.stop(1_000)
  })

  test('quick rows open further lanes, slow ones close them again', async () => {
    const waiting = Array.from({ length: 200 }, (_, index) => rowOf(`${index}`))
    let slow = false
    let active = 0
    let most = 0
    const lanes = start(
      { waiting },
      {
        most: 8,
        handle: async () => {
          active += 1
          most = Math.max(most, active)
          await pause(slow ? 1_100 : 1)
          active -= 1
        },
      },
    )
    await until(() => waiting.length === 0 && active === 0, { what: 'the quick ones are handled' })
    assert.equal(most, 8)
    slow = true
    for (let round = 0; round < 2; round += 1) {
      waiting.push(...Array.from({ length: 8 }, (_, index) => rowOf(`slow ${round} ${index}`)))
      lanes.wake()
      await until(() => waiting.length === 0 && active === 0, { what: 'the slow ones are handled' })
    }
    most = 0
    waiting.push(...Array.from({ length: 4 }, (_, index) => rowOf(`last ${index}`)))
    lanes.wake()
    await until(() => waiting.length === 0 && active === 0, { what: 'the last ones are handled' })
    assert.equal(most, 2)
    await lanes.stop(1_000)
  })
})
