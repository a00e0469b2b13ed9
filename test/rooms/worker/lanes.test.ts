import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Database } from '../../../src/database/connect.ts'
import type { Tables } from '../../../src/database/tables.ts'
import { hours, seconds } from '../../../src/kernel/duration.ts'
import { silentLog } from '../../../src/kernel/log.ts'
import { webhookCalls } from '../../../src/queue/calls.ts'
import type { Lease } from '../../../src/leases/leased-table.ts'
import { createUnanswered } from '../../../src/worker/held-leases.ts'
import { startLanes, type LaneTake, type LanesOptions } from '../../../src/worker/lanes.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { onPostgres } from '../../support/databases.ts'
import { handTimers } from '../../support/hand-timers.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { until } from '../../support/until.ts'
import type { Name } from '../outcomes/room.ts'
import { ahead, leased, leaseOf, otherToken, read, row } from '../leases/rows.ts'

const rowsOf = (ids: string): Lease[] => Array.from(ids, (id) => ({ id, token: `of ${id}` }))

/** They look for rows only when they are woken. */
const unpolled = { pollEvery: hours(1) }

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await endOfTurn()
}

/** Lanes over rows in memory. Time passes, and rows end, when the test says so. */
async function lanesOver(
  t: TestContext,
  rows: { readonly waiting?: string; readonly alone?: string },
  options: Partial<LanesOptions<Lease>> = {},
) {
  let now = 0
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  t.mock.method(performance, 'now', () => now)
  const pass = async (milliseconds: number) => {
    for (let left = milliseconds; left > 0; left -= 10) {
      const some = Math.min(10, left)
      now += some
      t.mock.timers.tick(some)
      await settle()
    }
  }
  const { log, lines } = capturedLog()
  const waiting = rowsOf(rows.waiting ?? '')
  const alone = rowsOf(rows.alone ?? '')
  const takes: LaneTake[] = []
  const begun: string[] = []
  const underWay = new Map<string, { readonly end: () => void; readonly setAside: () => void }>()
  const known = (id: string) => underWay.get(id) ?? assert.fail(`${id} has not begun`)
  let tokens = 0
  const lanes = startLanes<Lease>({
    table: webhookCalls,
    // Nothing can be released or extended there: the log says where it is tried.
    database: {} as Database,
    log,
    newId: () => `token ${(tokens += 1)}`,
    least: 2,
    most: 2,
    anyAlone: async () => alone.length > 0,
    take: async (take) => {
      takes.push(take)
      return take.alone ? alone.splice(0, 1) : waiting.splice(0, take.limit)
    },
    handle: ({ id }, setAside) => {
      begun.push(id)
      return new Promise<void>((resolve) => underWay.set(id, { end: resolve, setAside }))
    },
    ...options,
  })
  await settle()
  return {
    ...lanes,
    pass,
    waiting,
    alone,
    takes,
    /** Their ids, in the order in which they began. */
    begun: () => begun.join(''),
    limits: () => takes.map(({ limit }) => limit),
    end: async (ids: string) => {
      for (const id of ids) known(id).end()
      await settle()
    },
    setAside: (id: string) => known(id).setAside(),
    give: (ids: string) => void lanes.give(rowsOf(ids)),
    logged: () => lines.map(({ table, msg }) => `${String(table)}: ${String(msg)}`),
  }
}

test('as many rows as there are lanes are handled, and as many again are leased ahead', async (t) => {
  const lanes = await lanesOver(t, { waiting: 'abcdef' })
  assert.equal(lanes.begun(), 'ab')
  assert.deepEqual(lanes.takes, [
    { limit: 2, token: 'token 1', alone: false },
    { limit: 2, token: 'token 2', alone: false },
  ])
  await lanes.end('b')
  assert.equal(lanes.begun(), 'abc')
  assert.deepEqual(lanes.limits(), [2, 2])
  await lanes.end('a')
  assert.equal(lanes.begun(), 'abcd')
  assert.deepEqual(lanes.limits(), [2, 2, 2])
})

test('what is leased ahead is replenished once it is fewer than half the lanes', async (t) => {
  const lanes = await lanesOver(t, { waiting: 'abcdefghijkl' }, { least: 4, most: 4 })
  assert.deepEqual(lanes.limits(), [4, 4])
  await lanes.end('ab')
  assert.deepEqual(lanes.limits(), [4, 4])
  await lanes.end('c')
  assert.deepEqual(lanes.limits(), [4, 4, 3])
})

test('after a look that finds less than it may, the next comes in a second or on being woken', async (t) => {
  const lanes = await lanesOver(t, { waiting: 'a' })
  lanes.waiting.push(...rowsOf('b'))
  await lanes.pass(990)
  assert.equal(lanes.begun(), 'a')
  await lanes.pass(10)
  assert.equal(lanes.begun(), 'ab')
  await lanes.end('ab')
  assert.deepEqual(lanes.limits(), [2, 2])
  lanes.wake()
  assert.deepEqual(lanes.limits(), [2, 2, 2])
})

test('how often to look can be chosen', async (t) => {
  const lanes = await lanesOver(t, {}, { pollEvery: 50 })
  await lanes.pass(100)
  assert.deepEqual(lanes.limits(), [2, 2, 2])
})

test('a wake-up that comes while a look is under way is not lost', async (t) => {
  const looks: PromiseWithResolvers<readonly Lease[]>[] = []
  const take = () => {
    const look = Promise.withResolvers<readonly Lease[]>()
    looks.push(look)
    return look.promise
  }
  const lanes = await lanesOver(t, {}, { take })
  assert.equal(lanes.room(), 0, 'the look may find as many')
  lanes.wake()
  await settle()
  assert.equal(looks.length, 1, 'one look at a time')
  looks[0]?.resolve([])
  await settle()
  assert.equal(looks.length, 2)
  looks[1]?.resolve([])
  await settle()
  assert.equal(looks.length, 2)
  assert.equal(lanes.room(), 2)
})

test('a look that fails is logged, and the next one comes in its time', async (t) => {
  let looks = 0
  const take = async () => {
    looks += 1
    if (looks === 1) throw new Error('away')
    return rowsOf(looks === 2 ? 'a' : '')
  }
  const lanes = await lanesOver(t, {}, { take })
  assert.deepEqual(lanes.logged(), ['billing.webhook_calls: could not take work; will try again'])
  assert.equal(lanes.room(), 2)
  await lanes.pass(990)
  assert.equal(looks, 1)
  await lanes.pass(10)
  assert.equal(lanes.begun(), 'a')
})

test('there is room for as many rows as may be leased ahead, unless older ones may wait', async (t) => {
  const lanes = await lanesOver(t, {}, { least: 4, most: 4 })
  assert.equal(lanes.room(), 4)
  lanes.give('abcdef')
  assert.equal(lanes.begun(), 'abcd')
  assert.equal(lanes.room(), 2)
  lanes.wake()
  assert.equal(lanes.room(), 0)
  assert.deepEqual(lanes.limits(), [4], 'what is leased ahead comes first')
  lanes.give('ghi')
  assert.equal(lanes.room(), 0)
  await lanes.end('abcd')
  assert.deepEqual(lanes.limits(), [4, 2])
  assert.equal(lanes.room(), 3)
  lanes.give('jklmn')
  assert.equal(lanes.room(), 0, 'more are leased ahead than may be')
})

test('what is handed over while leases without an answer are released may leave no room for a look', async (t) => {
  let looks = 0
  const limits: number[] = []
  const take = async ({ limit }: LaneTake) => {
    limits.push(limit)
    looks += 1
    if (looks === 1) throw new Error('away')
    return []
  }
  const lanes = await lanesOver(t, {}, { ...unpolled, take })
  lanes.give('ab')
  assert.equal(lanes.room(), 2)
  lanes.wake()
  // Two flushes, each of which found room for two.
  lanes.give('cdef')
  await settle()
  assert.deepEqual(limits, [2])
  await lanes.end('ab')
  assert.deepEqual(limits, [2], 'two wait for a lane')
  await lanes.end('cd')
  assert.deepEqual(limits, [2, 1])
})

test('a row that cost a worker its life waits for those under way, whatever was released before', async (t) => {
  let looks = 0
  const isDue = Promise.withResolvers<boolean>()
  const takes: LaneTake[] = []
  const take = async (options: LaneTake) => {
    takes.push(options)
    looks += 1
    if (looks === 1) throw new Error('away')
    return []
  }
  const lanes = await lanesOver(t, {}, { ...unpolled, take, anyAlone: () => isDue.promise })
  lanes.give('a')
  await lanes.pass(5_000)
  isDue.resolve(true)
  lanes.wake()
  await settle()
  assert.equal(lanes.begun(), 'a')
  assert.deepEqual(
    takes.map(({ alone }) => alone),
    [false],
    'it would begin beside the other',
  )
  await lanes.end('a')
  assert.equal(takes[1]?.alone, true)
})

/** Lanes that have looked once, and whose next looks end when the test says so. */
async function lookingSlowly(t: TestContext) {
  const looks: number[] = []
  const answers: PromiseWithResolvers<readonly Lease[]>[] = []
  const take = async ({ limit }: LaneTake) => {
    looks.push(limit)
    if (looks.length === 1) return []
    const answer = Promise.withResolvers<readonly Lease[]>()
    answers.push(answer)
    return answer.promise
  }
  const lanes = await lanesOver(t, {}, { ...unpolled, least: 7, most: 7, take })
  const find = async (ids: string) => {
    answers.shift()?.resolve(rowsOf(ids))
    await settle()
  }
  return { ...lanes, looks, answers, find }
}

test('where rows are handed over, a look leaves half of the room for those that come during it', async (t) => {
  const lanes = await lookingSlowly(t)
  lanes.give('a')
  assert.equal(lanes.room(), 7)
  lanes.wake()
  assert.deepEqual(lanes.looks, [7, 4])
  assert.equal(lanes.room(), 3)
  lanes.give('bc')
  assert.equal(lanes.room(), 1)
  assert.equal(lanes.begun(), 'a', 'what the look finds is older')
  await lanes.find('xyz')
  assert.equal(lanes.begun(), 'axyzbc')
  lanes.wake()
  assert.deepEqual(lanes.looks, [7, 4, 4])
  lanes.give('d')
  lanes.answers.shift()?.reject(new Error('away'))
  await settle()
  assert.equal(lanes.begun(), 'axyzbcd', 'they do not wait for the next look')
})

test('while older rows are left behind, a look takes all the room', async (t) => {
  const lanes = await lookingSlowly(t)
  assert.equal(lanes.room(), 7)
  lanes.wake()
  await lanes.find('abcd')
  assert.deepEqual(lanes.looks, [7, 4, 7], 'it found all that it asked for')
  assert.equal(lanes.room(), 0)
  await lanes.find('efg')
  assert.equal(lanes.room(), 7)
  lanes.wake()
  assert.deepEqual(lanes.looks, [7, 4, 7, 4])
})

test('what is handed over during a look is released where the lanes stop', async (t) => {
  const lanes = await lookingSlowly(t)
  assert.equal(lanes.room(), 7)
  lanes.wake()
  lanes.give('ab')
  const stopped = lanes.stop(1_000)
  await lanes.find('x')
  await stopped
  assert.equal(lanes.begun(), '')
  assert.ok(lanes.logged().includes('billing.webhook_calls: leases not released; they run out'))
})

for (const [what, isAnswered] of [
  ['fails', true],
  ['never ends', false],
] as const) {
  test(`what is handed over during a look that ${what} is released where the lanes stop`, async (t) => {
    const lanes = await lookingSlowly(t)
    assert.equal(lanes.room(), 7)
    lanes.wake()
    lanes.give('ab')
    const stopped = lanes.stop(1_000)
    if (isAnswered) lanes.answers.shift()?.reject(new Error('away'))
    await settle()
    await lanes.pass(1_000)
    await stopped
    assert.equal(lanes.begun(), '')
    assert.ok(lanes.logged().includes('billing.webhook_calls: leases not released; they run out'))
  })
}

test('a row that cost a worker its life does not begin where the lanes stop while it is looked for', async (t) => {
  const found = Promise.withResolvers<readonly Lease[]>()
  const take = async ({ alone }: LaneTake) => (alone ? found.promise : [])
  const lanes = await lanesOver(t, { alone: 'a' }, { ...unpolled, take })
  await lanes.pass(5_000)
  const stopped = lanes.stop(1_000)
  found.resolve(rowsOf('a'))
  await settle()
  assert.equal(lanes.begun(), '')
  await stopped
  assert.ok(lanes.logged().includes('billing.webhook_calls: leases not released; they run out'))
})

test('quick rows open lanes, slow ones close half of them, and rows that are then too many go back', async (t) => {
  const lanes = await lanesOver(t, {}, { least: 1, most: 5 })
  lanes.give('abcdefghijklmnop')
  assert.equal(lanes.begun(), 'a')
  await lanes.pass(199)
  await lanes.end('a')
  assert.equal(lanes.begun(), 'abc', 'one more')
  await lanes.pass(200)
  await lanes.end('bc')
  assert.equal(lanes.begun(), 'abcde', 'neither quick nor slow')
  for (const id of 'defgh') await lanes.end(id)
  assert.equal(lanes.begun(), 'abcdefghijklm', 'five at most')
  await lanes.pass(1_000)
  await lanes.end('i')
  assert.equal(lanes.begun(), 'abcdefghijklmn')
  assert.deepEqual(lanes.logged(), [], 'a second is not slow')
  lanes.give('qr')
  await lanes.pass(1)
  await lanes.end('j')
  assert.deepEqual(lanes.logged(), ['billing.webhook_calls: leases not released; they run out'])
  assert.equal(lanes.room(), 0, 'two lanes are left, and two rows wait')
  await lanes.end('n')
  assert.equal(lanes.room(), 1, 'it was quick, and opens one')
  for (const id of 'klm') lanes.setAside(id)
  assert.equal(lanes.begun(), 'abcdefghijklmnop', 'the oldest stay')
  await lanes.pass(1_001)
  await lanes.end('op')
  assert.equal(lanes.logged().length, 1, 'there was nothing to release')
  lanes.give('stu')
  assert.equal(lanes.begun(), 'abcdefghijklmnops', 'the last lane stays')
})

test('a row that is set aside gives its lane to another, and how long it takes does not count', async (t) => {
  const lanes = await lanesOver(t, {}, { most: 8 })
  lanes.give('abcdef')
  assert.equal(lanes.begun(), 'ab')
  lanes.setAside('a')
  lanes.setAside('a')
  assert.equal(lanes.begun(), 'abc')
  await lanes.end('a')
  assert.equal(lanes.begun(), 'abc', 'it held no lane, and opens none')
  lanes.setAside('a')
  assert.equal(lanes.begun(), 'abc', 'it has ended')
  lanes.setAside('b')
  await lanes.pass(2_000)
  await lanes.end('b')
  assert.equal(lanes.begun(), 'abcd', 'it closes none')
  await lanes.pass(500)
  await lanes.end('d')
  assert.equal(lanes.begun(), 'abcde')
  lanes.setAside('d')
  assert.equal(lanes.begun(), 'abcde', 'it has ended')
})

test('a row that cost a worker its life is handled alone, one after the other, then others again', async (t) => {
  const lanes = await lanesOver(t, { alone: 'klm' }, unpolled)
  await lanes.pass(4_990)
  assert.equal(lanes.begun(), '')
  await lanes.pass(10)
  assert.equal(lanes.begun(), 'k')
  assert.partialDeepStrictEqual(lanes.takes.at(-1), { limit: 1, alone: true })
  const looks = lanes.takes.length
  assert.equal(lanes.room(), 0)
  lanes.give('a')
  lanes.waiting.push(...rowsOf('b'))
  lanes.wake()
  await lanes.pass(2_000)
  assert.equal(lanes.begun(), 'k')
  await lanes.end('k')
  assert.equal(lanes.begun(), 'kl')
  await lanes.pass(2_000)
  await lanes.end('l')
  assert.equal(lanes.begun(), 'klab', 'a turn lasts four seconds')
  const tokens = lanes.takes.slice(looks - 1).map(({ token, alone }) => `${token} ${alone}`)
  assert.equal(new Set(tokens).size, tokens.length, 'each under a token of its own')
})

test('many such rows follow each other in one turn, after one look', async (t) => {
  const rows = 'x'.repeat(100)
  const looks: number[] = []
  const begun: string[] = []
  const lanes = await lanesOver(
    t,
    { alone: rows },
    {
      ...unpolled,
      anyAlone: async () => {
        looks.push(begun.length)
        return begun.length < rows.length
      },
      handle: async ({ id }) => void begun.push(id),
    },
  )
  await lanes.pass(5_500)
  assert.equal(begun.length, rows.length)
  assert.deepEqual(looks, [0])
})

test('the lanes run empty for such a row, and for a slow one they wait three seconds', async (t) => {
  const lanes = await lanesOver(t, { waiting: 'ab', alone: 'k' }, unpolled)
  lanes.give('c')
  await lanes.pass(5_000)
  assert.equal(lanes.room(), 0)
  lanes.waiting.push(...rowsOf('x'))
  const looks = lanes.takes.length
  await lanes.end('ab')
  await lanes.pass(2_990)
  assert.equal(lanes.begun(), 'abc', 'what is leased goes first')
  assert.equal(lanes.takes.length, looks, 'and nothing else is leased')
  await lanes.pass(10)
  assert.equal(lanes.begun(), 'abck')
  await lanes.end('k')
  assert.equal(lanes.begun(), 'abckx')
})

test('such a row begins as soon as the lanes are empty, and never before what is leased', async (t) => {
  const lanes = await lanesOver(t, { waiting: 'a', alone: 'k' }, unpolled)
  lanes.give('bcd')
  await lanes.pass(5_000)
  await lanes.end('ab')
  await lanes.end('c')
  assert.equal(lanes.begun(), 'abcd')
  await lanes.end('d')
  assert.equal(lanes.begun(), 'abcdk')
  await lanes.end('k')
  lanes.alone.push(...rowsOf('l'))
  lanes.give('efgh')
  await lanes.pass(8_000)
  assert.equal(lanes.begun(), 'abcdkef', 'two are leased ahead')
  await lanes.end('ef')
  await lanes.end('g')
  await lanes.end('h')
  assert.equal(lanes.begun(), 'abcdkefghl')
})

test('each time the lanes have three seconds to run empty', async (t) => {
  const lanes = await lanesOver(t, { waiting: 'a', alone: 'k' }, unpolled)
  await lanes.pass(8_000)
  assert.equal(lanes.begun(), 'ak')
  await lanes.end('k')
  lanes.alone.push(...rowsOf('l'))
  await lanes.pass(2_000)
  assert.equal(lanes.begun(), 'ak')
  await lanes.pass(2_990)
  assert.equal(lanes.begun(), 'ak')
  await lanes.pass(10)
  assert.equal(lanes.begun(), 'akl')
})

test('a row that is only slow goes on beside others of its kind after three seconds, their turn lasts four', async (t) => {
  const lanes = await lanesOver(t, { alone: 'klm' }, { least: 4, most: 4, ...unpolled })
  await lanes.pass(5_000)
  lanes.waiting.push(...rowsOf('a'))
  await lanes.pass(2_990)
  assert.equal(lanes.begun(), 'k')
  await lanes.pass(10)
  assert.equal(lanes.begun(), 'kl')
  await lanes.pass(3_000)
  assert.equal(lanes.begun(), 'kla', 'then others have one')
  await lanes.end('kla')
  await lanes.pass(4_000)
  assert.equal(lanes.begun(), 'klam')
})

test('whether such rows wait is asked every five seconds, and not where that is known', async (t) => {
  const asked: string[] = []
  const answers = [async () => false, () => Promise.reject(new Error('away')), async () => true]
  const anyAlone = () => {
    asked.push('asked')
    return (answers.shift() ?? (async () => false))()
  }
  const lanes = await lanesOver(t, { waiting: 'ab' }, { anyAlone, ...unpolled })
  lanes.give('cd')
  await lanes.pass(5_000)
  assert.equal(asked.length, 1)
  assert.equal(lanes.room(), 0)
  await lanes.end('a')
  assert.equal(lanes.room(), 1, 'there are none')
  await lanes.pass(5_000)
  assert.equal(asked.length, 2)
  assert.deepEqual(
    lanes.logged(),
    ['billing.webhook_calls: could not extend leases'],
    'the next answer comes soon',
  )
  assert.equal(lanes.room(), 1)
  await lanes.pass(5_000)
  assert.equal(lanes.room(), 0)
  await lanes.pass(10_000)
  assert.equal(asked.length, 3)
  for (const id of 'bcd') await lanes.end(id)
  await lanes.pass(5_000)
  assert.equal(asked.length, 4)
})

test('lanes that stop begin nothing more, wait for what is under way, and take nothing again', async (t) => {
  const lanes = await lanesOver(t, { waiting: 'ab' })
  lanes.give('c')
  let stopped = false
  const stop = lanes.stop(1_000).then(() => (stopped = true))
  assert.equal(lanes.room(), 0)
  lanes.waiting.push(...rowsOf('x'))
  lanes.alone.push(...rowsOf('k'))
  lanes.wake()
  await lanes.end('a')
  assert.equal(lanes.begun(), 'ab')
  assert.equal(stopped, false)
  await lanes.end('b')
  assert.equal(stopped, true)
  await stop
  const looks = lanes.takes.length
  await lanes.pass(20_000)
  assert.equal(lanes.takes.length, looks)
  assert.equal(lanes.begun(), 'ab')
})

test('lanes that stop ask nothing of the database where nothing is leased', async (t) => {
  let asked = 0
  const db = {
    getExecutor() {
      asked += 1
      throw new Error('it does not answer')
    },
  }
  const lanes = await lanesOver(t, {}, { database: { db } as unknown as Database })
  await lanes.stop(1_000)
  assert.equal(asked, 0)
})

test('lanes that stop leave a row that is too slow for them', async (t) => {
  const lanes = await lanesOver(t, { waiting: 'a' })
  let stopped = false
  void lanes.stop(1_000).then(() => (stopped = true))
  await settle()
  await lanes.pass(990)
  assert.equal(stopped, false)
  await lanes.pass(10)
  assert.equal(stopped, true)
  const releases = lanes.logged().filter((line) => line.includes('released'))
  assert.equal(releases.length, 1)
})

test('lanes that stop take no further row that cost a worker its life', async (t) => {
  const lanes = await lanesOver(t, { alone: 'kl' }, unpolled)
  await lanes.pass(5_000)
  void lanes.stop(1_000)
  await lanes.end('k')
  assert.equal(lanes.begun(), 'k')
})

test('leases are extended every ten seconds, if there are any', async (t) => {
  const lanes = await lanesOver(t, {})
  await lanes.pass(10_000)
  assert.deepEqual(lanes.logged(), [])
  lanes.give('a')
  await lanes.pass(9_990)
  assert.deepEqual(lanes.logged(), [])
  await lanes.pass(10)
  assert.deepEqual(lanes.logged(), ['billing.webhook_calls: could not extend leases'])
})

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  /** Lanes over rows of calls; they end when the test says so. */
  function callLanes(db: Kysely<Tables>, take: LanesOptions<Lease>['take'] = async () => []) {
    const handled = Promise.withResolvers<void>()
    const begun: string[] = []
    const lanes = startLanes<Lease>({
      table: webhookCalls,
      database: { db } as Database,
      log: silentLog,
      newId: () => otherToken,
      least: 2,
      most: 2,
      anyAlone: async () => false,
      take,
      handle: ({ id }) => {
        begun.push(id)
        return handled.promise
      },
    })
    return { ...lanes, begun, endAll: handled.resolve }
  }

  const states = (db: Kysely<Tables>) => read(db, 'calls', 'state; lease_token is null')
  const names: readonly Name[] = ['a', 'b', 'c']
  const leaseAll = async (db: Kysely<Tables>) => {
    for (const name of names) await row(db, 'calls', { name, ...leased() })
    return names.map((name) => leaseOf(name))
  }

  test('the leases of what is under way and of what waits for a lane are extended', (t) =>
    rolledBack(async (db) => {
      t.mock.timers.enable({ apis: ['setInterval'] })
      const lanes = callLanes(db)
      void lanes.give(await leaseAll(db))
      assert.equal(lanes.begun.length, 2)
      t.mock.timers.tick(seconds(10))
      const extended = async () => read(db, 'calls', ahead('lease_until', 30))
      const all = ['a true', 'b true', 'c true']
      await until(async () => (await extended()).join() === all.join(), { what: 'all are' })
      lanes.endAll()
      await lanes.stop(1_000)
    })())

  test('lanes that stop release what waits at once, and the rest after their grace', (t) =>
    rolledBack(async (db) => {
      t.mock.timers.enable({ apis: ['setInterval'] })
      const lanes = callLanes(db)
      void lanes.give(await leaseAll(db))
      using grace = handTimers()
      const stopped = lanes.stop(grace.lengthMs)
      await until(() => grace.running === 1, { what: 'the grace has begun' })
      const waiting = ['a processing false', 'b processing false', 'c pending true']
      assert.deepEqual(await states(db), waiting)
      grace.strike()
      await stopped
      assert.deepEqual(await states(db), ['a pending true', 'b pending true', 'c pending true'])
      lanes.endAll()
    })())

  test('what a look finds, or is handed over, once the lanes stop is released', (t) =>
    rolledBack(async (db) => {
      t.mock.timers.enable({ apis: ['setInterval'] })
      const look = Promise.withResolvers<readonly Lease[]>()
      const lanes = callLanes(db, () => look.promise)
      const [a, b, c] = await leaseAll(db)
      assert.ok(a && b && c)
      const stopped = lanes.stop(60_000)
      look.resolve([a, b])
      await stopped
      assert.deepEqual(await states(db), ['a pending true', 'b pending true', 'c processing false'])
      void lanes.give([c])
      const all = ['a pending true', 'b pending true', 'c pending true']
      await until(async () => (await states(db)).join() === all.join(), { what: 'all are' })
      assert.deepEqual(lanes.begun, [])
    })())

  test('what a look has leased is released if its answer is lost, before the next look', (t) =>
    rolledBack(async (db) => {
      t.mock.timers.enable({ apis: ['setInterval'] })
      const looks: string[] = []
      const lanes = callLanes(db, async ({ token: by }) => {
        looks.push((await states(db)).join())
        if (looks.length > 1) return []
        await row(db, 'calls', { name: 'a', ...leased(), lease_token: by })
        await row(db, 'calls', { name: 'b', ...leased() })
        throw new Error('Connection terminated unexpectedly')
      })
      await until(() => looks.length === 1, { what: 'it has looked' })
      t.mock.timers.tick(seconds(1))
      await until(() => looks.length === 2, { what: 'it has looked again' })
      assert.deepEqual(looks, ['', 'a pending true,b processing false'])
      await lanes.stop(0)
    })())

  test('what a look has leased is released if its answer is lost, and lanes stop before the next', (t) =>
    rolledBack(async (db) => {
      t.mock.timers.enable({ apis: ['setInterval'] })
      const away = Promise.withResolvers<void>()
      const lanes = callLanes(db, async ({ token: by }) => {
        await row(db, 'calls', { name: 'a', ...leased(), lease_token: by })
        await away.promise
        throw new Error('Connection terminated unexpectedly')
      })
      await until(async () => (await states(db)).length === 1, { what: 'it has looked' })
      const stopped = lanes.stop(60_000)
      away.resolve()
      await stopped
      assert.deepEqual(await states(db), ['a pending true'])
    })())

  test('what a look finds after lanes have stopped waiting for it is released', (t) =>
    rolledBack(async (db) => {
      t.mock.timers.enable({ apis: ['setInterval'] })
      const look = Promise.withResolvers<readonly Lease[]>()
      const lanes = callLanes(db, () => look.promise)
      const found = await leaseAll(db)
      await lanes.stop(0)
      look.resolve(found)
      const all = ['a pending true', 'b pending true', 'c pending true']
      await until(async () => (await states(db)).join() === all.join(), { what: 'all are' })
    })())

  test('what is leased by nobody is released before the next look, or at once if lanes have stopped', (t) =>
    rolledBack(async (db) => {
      t.mock.timers.enable({ apis: ['setInterval'] })
      const looks: string[] = []
      const lanes = callLanes(db, async () => {
        looks.push((await states(db)).join())
        return []
      })
      await until(() => looks.length === 1, { what: 'they have looked' })
      await row(db, 'calls', { name: 'a', ...leased(), lease_token: otherToken })
      await lanes.release(otherToken)
      assert.deepEqual(await states(db), ['a processing false'], 'it waits for the look')
      t.mock.timers.tick(seconds(1))
      await until(() => looks.length === 2, { what: 'they have looked again' })
      assert.deepEqual(looks, ['', 'a pending true'])
      await lanes.stop(0)
      await row(db, 'calls', { name: 'b', ...leased(), lease_token: otherToken })
      await lanes.release(otherToken)
      assert.deepEqual(await states(db), ['a pending true', 'b pending true'])
    })())
})

test('of leases that nobody holds, the first thousand are remembered', () => {
  const unanswered = createUnanswered({
    table: webhookCalls,
    database: {} as Database,
    log: silentLog,
  })
  for (let count = 0; count < 1_001; count += 1) unanswered.add(`token ${count}`)
  assert.equal(unanswered.size, 1_000)
})
