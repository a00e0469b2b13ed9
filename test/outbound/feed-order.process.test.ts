import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import pg from 'pg'
import type { BillingCore } from '../../src/billing/types.ts'
import { connect, type Database } from '../../src/database/connect.ts'
import { numberEvents } from '../../src/database/feed.ts'
import { readFeedRows } from '../../src/database/read-feed-rows.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { openBilling } from '../support/billing.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { onPostgres, postgres } from '../support/databases.ts'
import { startProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import { insertEvent, storedOrder, upTo } from './events-in-feed.ts'

const numberingFile = fileURLToPath(new URL('numbering-process.ts', import.meta.url))

/** Opens the database of a billing once more: with as many connections as there are committers. */
function openAgain(url: string | undefined, poolSize = 20): Database {
  const target = { kind: 'postgres', url: url ?? '' } as const
  return connect({ target, log: silentLog, poolSize, applicationName: 'quittance test' })
}

/**
 * Sixteen transactions at a time, each open for up to 200 ms behind its event; a tenth is rolled
 * back. Returns the ids that were committed.
 */
async function commitLate(database: Database, count: number): Promise<readonly string[]> {
  const committed: string[] = []
  let left = count
  const committer = async () => {
    while (left > 0) {
      left -= 1
      const isUndone = left % 10 === 0
      const id = await database
        .transaction(async ({ db }) => {
          const written = await insertEvent(db)
          await pause(Math.random() * 200)
          if (isUndone) throw new Error('rolled back')
          return written
        })
        .catch(() => undefined)
      if (id !== undefined) committed.push(id)
    }
  }
  await Promise.all(Array.from({ length: 16 }, committer))
  return committed
}

/** Reads the feed until it has so many. */
async function readSome(core: BillingCore, count: () => number | undefined) {
  const abort = new AbortController()
  const seen: { readonly id: string; readonly position: number }[] = []
  const stop = setInterval(() => {
    if (count() !== undefined && seen.length >= (count() ?? 0)) abort.abort()
  }, 20)
  for await (const { id, position } of core.events.read({ signal: abort.signal })) {
    seen.push({ id, position })
    if (seen.length === count()) break
  }
  clearInterval(stop)
  return seen
}

/** What a reader sees whose cursor is the time of its last row: the usual way, which misses some. */
async function readByTime(database: Database, isOver: () => boolean): Promise<Set<string>> {
  const seen = new Set<string>()
  let after = new Date(0).toISOString()
  while (!isOver()) {
    const { rows } = await sql<{ id: string; at: string }>`
      select id, created_at::text as at from billing.events
      where created_at > ${after}::timestamptz order by created_at, id`.execute(database.db)
    for (const { id } of rows) seen.add(id)
    after = rows.at(-1)?.at ?? after
    await pause(5)
  }
  return seen
}

onPostgres(() => {
  test('readers see what late transactions commit: each event once, in one order (1)', async () => {
    await using billing = await openBilling(postgres)
    const database = openAgain(billing.url)
    await billing.core.work()
    let total: number | undefined
    const readers = [1, 2, 3].map(() => readSome(billing.core, () => total))
    const byTime = readByTime(database, () => total !== undefined)
    const committed = await commitLate(database, 640)
    total = committed.length
    const [first, ...others] = await Promise.all(readers)
    for (const other of others) assert.deepEqual(other, first)
    assert.deepEqual(new Set(first?.map(({ id }) => id)), new Set(committed))
    assert.deepEqual(
      first?.map(({ position }) => BigInt(position)),
      upTo(total),
    )
    // The control: the same commits, and the events that a cursor of times has missed.
    const seen = await byTime
    assert.ok(seen.size < committed.length, 'a cursor of times missed nothing: no late commits?')
    await database.close()
  })

  test('it holds while processes that number are killed at random (2)', async () => {
    await using billing = await openBilling(postgres)
    const database = openAgain(billing.url)
    const env = { NUMBERED_URL: billing.url ?? '' }
    let isOver = false
    let kills = 0
    const numbering = async () => {
      while (!isOver) {
        const child = startProcess([], { file: numberingFile, env })
        await child.line(/numbering/)
        await pause(Math.random() * 300)
        await child.kill()
        kills += 1
      }
    }
    const processes = [1, 2, 3, 4].map(numbering)
    const seen = readWhile(database, () => isOver)
    let committed = (await commitLate(database, 640)).length
    // Where starting a process takes long.
    while (kills <= 8) committed += (await commitLate(database, 64)).length
    // A batch may be open when its process is killed: the server ends it, and another numbers.
    await until(
      async () => {
        const { rows } = await sql`select from billing.events where position is null`.execute(
          database.db,
        )
        return rows.length === 0
      },
      { what: 'all events are numbered' },
    )
    isOver = true
    await Promise.all(processes)
    const stored = await storedOrder(database.db)
    assert.deepEqual(
      stored.map(({ position }) => position),
      upTo(committed),
    )
    assert.deepEqual(await seen, stored.slice(0, (await seen).length))
    await database.close()
  })

  test('a transaction that stays open holds up only its own event (3)', async () => {
    await using billing = await openBilling(postgres)
    await billing.core.work()
    const other = await postgres.create()
    const elsewhere = new pg.Client({ connectionString: other.url })
    await elsewhere.connect()
    await elsewhere.query('begin')
    await elsewhere.query(`insert into billing.feeds (name) values ('held')`)
    const database = openAgain(billing.url)
    const held = await openTransaction(database)
    const late = await insertEvent(held.db)
    const ids = [await insertEvent(database.db), await insertEvent(database.db)]
    const page = await billing.core.events.feed({ wait: 30_000 })
    const rest = page.data.length === 2 ? [] : (await readOn(billing.core, page.nextCursor)).data
    assert.deepEqual(
      [...page.data, ...rest].map(({ id }) => id),
      ids,
    )
    // Both transactions are still open.
    await held.commit()
    await elsewhere.query('rollback')
    const last = await readOn(billing.core, ids.at(-1) ?? '')
    assert.deepEqual(
      last.data.map(({ id, position }) => [id, position]),
      [[late, 3]],
    )
    await elsewhere.end()
    await database.close()
    await other.drop()
  })

  test('a numbering whose commit is cut, before or behind it, leaves no gap and no double (4)', async () => {
    for (const fault of ['cut_before', 'cut_answer'] as const) {
      await using billing = await openBilling(postgres)
      const proxy = await startCutProxy(billing.url ?? '')
      const database = openAgain(proxy.url, 1)
      for (let count = 0; count < 3; count += 1) await insertEvent(billing.database.db)
      const cut = proxy.next(/^commit/i, fault)
      const numbering = database.transaction(({ db }) => numberEvents(db))
      await assert.rejects(numbering)
      await cut.struck
      await insertEvent(billing.database.db)
      // The server may not have noticed yet that its client is gone.
      await until(
        async () => {
          const again = await billing.database.transaction(({ db }) => numberEvents(db))
          return again.kind === 'numbered'
        },
        { what: 'another numbers' },
      )
      const stored = await storedOrder(billing.database.db)
      assert.deepEqual(
        stored.map(({ position }) => position),
        upTo(4),
        fault,
      )
      await database.close()
      await proxy.close()
    }
  })

  test('two statements, because one alone would leave holes (4, control)', async () => {
    await using billing = await openBilling(postgres)
    const database = openAgain(billing.url)
    for (let count = 0; count < 3; count += 1) await insertEvent(database.db)
    const first = await openTransaction(database)
    await first.db.executeQuery(lockAlone.compile(first.db))
    // It looks now, and then waits for the row of the feed.
    const second = numberAlone.execute(database.db)
    await until(
      async () => {
        const { rows } = await sql`select from pg_stat_activity
        where wait_event_type = 'Lock' and query like '%the variant%'`.execute(database.db)
        return rows.length === 1
      },
      { what: 'the second waits for the feed' },
    )
    await numberAlone.execute(first.db)
    await first.commit()
    await second
    const { rows } = await sql<{ last: bigint }>`select last_position as last
      from billing.feeds where name = 'events'`.execute(database.db)
    const positions = (await storedOrder(database.db)).map(({ position }) => position)
    assert.notDeepEqual([rows[0]?.last, ...positions], [3n, ...upTo(3)])
    await database.close()
  })

  test('a page stops before a position that is missing (5)', async () => {
    await using billing = await openBilling(postgres)
    const { db } = billing.database
    for (let count = 0; count < 5; count += 1) await insertEvent(db)
    await billing.database.transaction((transaction) => numberEvents(transaction.db))
    const third = (await storedOrder(db))[2]?.id ?? ''
    await sql`update billing.events set position = null where id = ${third}::uuid`.execute(db)
    assert.deepEqual(
      (await readFeedRows(db, 0n, 500)).map(({ position }) => position),
      upTo(2),
    )
    assert.deepEqual(await readFeedRows(db, 2n, 500), [])
    const page = await billing.core.events.feed()
    assert.deepEqual([page.data.length, page.nextCursor], [2, (await storedOrder(db))[1]?.id])
    await sql`update billing.events set position = 3 where id = ${third}::uuid`.execute(db)
    const rest = await readOn(billing.core, page.nextCursor)
    assert.deepEqual(
      rest.data.map(({ position }) => position),
      [3, 4, 5],
    )
  })
})

/** The variant that looks and locks in one statement: its snapshot is from before the lock. */
const numberAlone = sql`/* the variant */ with feed as materialized (
    select last_position as last from billing.feeds where name = 'events' for update),
  due as materialized (
    select id, created_at from billing.events where position is null order by created_at, id),
  numbered as (select id, row_number() over (order by created_at, id) as place from due),
  done as (
    update billing.events as event set position = feed.last + place
    from numbered, feed where event.id = numbered.id returning 1)
  update billing.feeds set last_position = last_position + (select count(*) from numbered)
  where name = 'events'`
const lockAlone = sql`select from billing.feeds where name = 'events' for update`

function readOn(core: BillingCore, after: string) {
  return core.events.feed({ after, wait: 30_000 })
}

/** Follows the positions in the table, as a reader does. */
async function readWhile(database: Database, isOver: () => boolean) {
  const seen: { readonly id: string; readonly position: bigint }[] = []
  while (!isOver()) {
    const rows = await readFeedRows(database.db, seen.at(-1)?.position ?? 0n, 500)
    seen.push(...rows.map(({ id, position }) => ({ id, position })))
    await pause(5)
  }
  return seen
}

/** A transaction that stays open until it is told to commit. */
async function openTransaction(database: Database) {
  const begun = Promise.withResolvers<Database['db']>()
  const ending = Promise.withResolvers<void>()
  const ended = database.transaction(async ({ db }) => {
    begun.resolve(db)
    await ending.promise
  })
  return {
    db: await begun.promise,
    commit: async () => {
      ending.resolve()
      await ended
    },
  }
}
