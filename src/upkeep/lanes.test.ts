import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { silentLog } from '../kernel/log.ts'
import { createGatewayPace } from './gateway-pace.ts'
import { createLanes, startLanes, workUntilNoneIsDue, type Lanes } from './lanes.ts'

const pace = createGatewayPace(() => 60, { burst: 2, now: () => 0 })
const most = 100

/** Lanes of work that ends as fast as it is taken, and the end of their run after ten rows. */
function quickLanes(end: () => void) {
  const lanes: Lanes = createLanes<object>({
    lanes: 2,
    pace,
    take: async () => {
      await turn()
      if (lanes.begun === 10) end()
      return lanes.begun < most ? [{}] : []
    },
    work: (leases) => leases.map(async () => {}),
  })
  return lanes
}

test('lanes that are stopped take no more, however fast their work ends', async () => {
  const stopped = Promise.withResolvers<Promise<void>>()
  const lanes = quickLanes(() => stopped.resolve(running.stop()))
  const running = startLanes(lanes, silentLog)
  await stopped.promise
  assert.equal(lanes.begun, 11)
})

test('a run that is aborted takes no more, however fast its work ends', async () => {
  const asked = new AbortController()
  const lanes = quickLanes(() => asked.abort())
  await workUntilNoneIsDue(lanes, asked.signal)
  assert.equal(lanes.begun, 11)
})

test('a lane is free once its provider has answered; answers of as many as there are lanes are written meanwhile', async () => {
  const ends: (() => void)[] = []
  const limits: number[] = []
  const lanes = createLanes<object>({
    lanes: 2,
    pace: createGatewayPace(() => Infinity, { burst: 2 }),
    take: async ({ limit }) => {
      limits.push(limit)
      return Array.from({ length: limit }, () => ({}))
    },
    work: (leases, leave) =>
      leases.map(async (lease) => {
        leave(lease)
        await new Promise<void>((end) => ends.push(end))
      }),
  })
  const look = () => lanes.look(() => false)
  await look()
  assert.deepEqual([limits, lanes.underWay.size], [[2, 2], 4])
  ends.shift()?.()
  await lanes.freed
  await look()
  assert.deepEqual(limits, [2, 2])
  ends.shift()?.()
  await lanes.freed
  await look()
  assert.deepEqual(limits, [2, 2, 2])
})

test('a take asks for no more rows than a gateway may be asked for', async () => {
  let now = 0
  const pace = createGatewayPace(() => 60, { burst: 3, now: () => now })
  const limits: number[] = []
  const lanes = createLanes<object>({
    lanes: 3,
    pace,
    take: async ({ limit }) => {
      limits.push(limit)
      return Array.from({ length: limit }, () => ({}))
    },
    work: (leases) =>
      leases.map(async () => {
        pace.reserve('one')
      }),
  })
  const look = () => lanes.look(() => lanes.begun >= (now === 0 ? 3 : 4))
  await look()
  await Promise.all(lanes.underWay)
  now = 1_000
  await look()
  assert.deepEqual(limits, [3, 1])
})

test('lanes that run for long keep nothing of the rounds before', async () => {
  const ended = Promise.withResolvers<number>()
  let rounds = 0
  let before = 0
  const lanes = {
    look: async () => {
      await turn()
      rounds += 1
      if (rounds === 100) before = pendingTimers()
      if (rounds === 600) ended.resolve(pendingTimers() - before)
      return undefined
    },
    freed: Promise.resolve(),
    underWay: new Set([Promise.resolve()]),
    begun: 0,
  }
  const running = startLanes(lanes, silentLog)
  const grown = await ended.promise
  await running.stop()
  assert.ok(grown < 100, `${grown} more timers after 500 rounds`)
})

function pendingTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}
