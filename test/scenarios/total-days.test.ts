import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { replaceDay, type AccountTotals } from '../../src/database/day-totals.ts'
import { dayAfter, type Day } from '../../src/kernel/day.ts'
import { totalDays } from '../../src/upkeep/total-days.ts'
import { writeMove } from '../inspect/moves.ts'
import { openBilling, until, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { lastingToday } from '../support/lasting-today.ts'

let today: Day
const ago = (days: number) => dayAfter(today, -days)
const money = { count: 1, amount: 100n }
const none = { count: 0, amount: 0n }
const one: AccountTotals = {
  gateway: 'fake',
  account: '',
  mode: 'unknown',
  currency: 'USD',
  paid: money,
  refunded: none,
  returned: none,
  opened: 0,
  won: 0,
  lost: 0,
}

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    today = await lastingToday()
    billing = await openBilling(engine)
  })
  after(() => billing.close())
  const run = (text: string) => sql.raw(text).execute(billing.database.db)
  beforeEach(async () => {
    await run('truncate billing.payments, billing.totaled_days, billing.day_totals cascade')
  })
  /** The days that are computed, each with the count of its paid charges; oldest first. */
  const computed = async () => {
    const days = await billing.core.inspect.totals({ from: ago(365), to: today })
    return days
      .filter(({ computedAt }) => computedAt !== null)
      .map(({ day, totals: [first] }) => [day, first?.paid.count ?? 0])
      .toReversed()
  }

  test('a history of before is computed a few days a run, the oldest first, and for good', async () => {
    for (const days of [9, 9, 7, 5, 1, 0]) {
      await writeMove(billing, { at: `${ago(days)}T00:00:00Z` })
    }
    const few = { mostLooks: 2 }
    assert.equal(await totalDays(billing.database, few), 4)
    const young = [
      [ago(1), 1],
      [today, 1],
    ]
    assert.deepEqual(await computed(), [[ago(10), 0], [ago(9), 2], ...young])
    assert.equal(await totalDays(billing.database, few), 4)
    assert.deepEqual((await computed()).slice(2), [[ago(8), 0], [ago(7), 1], ...young])
    await totalDays(billing.database, few)
    await totalDays(billing.database, few)
    assert.equal(await totalDays(billing.database, few), 3)
    assert.equal((await computed()).length, 11)
    // What is computed for good is not computed again.
    assert.equal(await totalDays(billing.database, few), 2)
  })

  test('a day whose end nobody has seen is computed again, and so is yesterday each time', async () => {
    for (const days of [5, 4, 1]) await writeMove(billing, { at: `${ago(days)}T12:00:00Z` })
    await totalDays(billing.database)
    for (const days of [5, 4, 1]) await writeMove(billing, { at: `${ago(days)}T13:00:00Z` })
    // Nobody worked since the evening of that day, or since a while after it.
    await run(`update billing.totaled_days set computed_at = (day + 1) + time '00:59' at time zone 'UTC'
      where day = '${ago(5)}'`)
    await run(`update billing.totaled_days set computed_at = (day + 1) + time '01:00' at time zone 'UTC'
      where day = '${ago(4)}'`)
    await totalDays(billing.database)
    assert.deepEqual(
      (await computed()).filter(([, count]) => count !== 0),
      [
        [ago(5), 2],
        [ago(4), 1],
        [ago(1), 2],
      ],
    )
  })

  test('a day with many changes is read a few rows at a time, and each is counted once', async () => {
    for (let count = 0; count < 7; count += 1) {
      await writeMove(billing, { at: `${today}T00:00:0${count}Z` })
      await writeMove(billing, { at: `${today}T00:00:0${count}Z`, kind: 'failed' })
    }
    for (const movesAtOnce of [1, 2, 7, 14, 100]) {
      await totalDays(billing.database, { movesAtOnce })
      assert.deepEqual((await computed()).at(-1), [today, 7], `${movesAtOnce} at once`)
    }
  })

  test('two processes that compute the same days at the same time count nothing twice', async () => {
    for (const days of [3, 2, 2, 0]) await writeMove(billing, { at: `${ago(days)}T00:00:00Z` })
    await Promise.all([1, 2, 3].map(() => totalDays(billing.database, { movesAtOnce: 1 })))
    assert.deepEqual(
      (await computed()).filter(([, count]) => count !== 0),
      [
        [ago(3), 1],
        [ago(2), 2],
        [today, 1],
      ],
    )
  })

  test('totals that were read earlier do not replace those that were read later', async () => {
    const at = new Date()
    const write = (computedAt: Date, totals: readonly AccountTotals[]) =>
      billing.database.transaction((transaction) =>
        replaceDay(transaction, { day: today, computedAt }, totals),
      )
    assert.ok(await write(at, [one]))
    assert.ok(!(await write(new Date(at.getTime() - 1), [])))
    assert.deepEqual(await computed(), [[today, 1]])
    assert.ok(await write(at, []))
    assert.deepEqual(await computed(), [[today, 0]])
  })

  test('a run that is stopped leaves the days that it has done, and the next one does the others', async () => {
    for (const days of [4, 3, 0]) await writeMove(billing, { at: `${ago(days)}T00:00:00Z` })
    const stopping = new AbortController()
    const db = billing.database
    let written = 0
    const stopped: typeof db = {
      ...db,
      transaction: async (work) => {
        const done = await db.transaction(work)
        written += 1
        if (written === 3) stopping.abort(new Error('stop'))
        return done
      },
    }
    await assert.rejects(totalDays(stopped, { signal: stopping.signal }), { message: 'stop' })
    assert.equal((await computed()).length, 3)
    await totalDays(billing.database)
    assert.deepEqual(
      (await computed()).filter(([, count]) => count !== 0),
      [
        [ago(4), 1],
        [ago(3), 1],
        [today, 1],
      ],
    )
  })

  test('ids of a clock that is years ahead, or of no clock at all, stop nothing', async () => {
    await writeMove(billing, { at: `${today}T00:00:00Z`, madeAt: '2999-01-01T00:00:00Z' })
    assert.equal(await totalDays(billing.database), 2)
    await run(`update billing.payment_transitions set id = 'ffffffff-ffff-4fff-bfff-ffffffffffff'`)
    assert.equal(await totalDays(billing.database), 2)
    assert.deepEqual((await computed()).at(-1), [today, 0])
  })

  test('a worker does that every quarter of an hour', async () => {
    const worker = await billing.core.work()
    const minute = async () => {
      const { rows } = await sql<{ minute: number }>`
        select extract(minute from next_run_at)::int as minute from billing.schedules
        where name = 'day totals'`.execute(billing.database.db)
      return rows[0]?.minute
    }
    await until(async () => (await minute()) !== undefined, { what: 'the schedule is there' })
    assert.equal(((await minute()) ?? 1) % 15, 0)
    await worker.stop()
    await run(`update billing.schedules set next_run_at = now() where name = 'day totals'`)
    const another = await billing.core.work()
    await until(async () => (await computed()).length > 0, { what: 'today is computed' })
    await another.stop()
  })

  if (engine.name === 'PostgreSQL') {
    test('who reads while a day is replaced sees it as it was before', async () => {
      const { database, core } = billing
      await writeMove(billing, { at: `${today}T00:00:00Z` })
      await totalDays(database)
      const before = await core.inspect.totals({ from: today, to: today })
      await database.transaction(async (transaction) => {
        const computedAt = new Date(Date.now() + 1_000)
        await replaceDay(transaction, { day: today, computedAt }, [])
        assert.deepEqual(await core.inspect.totals({ from: today, to: today }), before)
      })
      const [now] = await core.inspect.totals({ from: today, to: today })
      assert.deepEqual(now?.totals, [])
    })
  }
})
