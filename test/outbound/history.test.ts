import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../src/database/tables.ts'
import { connect } from '../../src/database/connect.ts'
import { coreOf } from '../../src/billing/create-core.ts'
import type { FeedResult } from '../../src/billing/event-types.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { newPayment, openBilling, sendFake, unhurried } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { muchPatience } from '../support/patience.ts'
import { until } from '../support/until.ts'
import { insertEvent } from './events-in-feed.ts'
import { startReceiver } from './receiver.ts'
import { sentStatements, type Answered } from './sent-statements.ts'

const withKey = { billing: { encryptionKey: randomBytes(32).toString('base64') } }

/** What was claimed while no worker ran: events of last year, without places. */
async function leaveHistory(db: Kysely<Tables>, count: number): Promise<void> {
  await sql`insert into billing.events (id, dedup_key, type, source, data, created_at)
    select gen_random_uuid(), 'old ' || n, 'PaymentMethodAttached', 'call', '{}',
      now() - interval '1 year' + n * interval '1 second'
    from generate_series(1, ${count}::integer) as n`.execute(db)
}

async function unnumbered(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from billing.events where position is null`.execute(db)
  return rows[0]?.count ?? 0
}

onPostgres((engine) => {
  test('a new endpoint, and a reader at the end, begin behind a history that has no places yet', async () => {
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    const { db } = billing.database
    await leaveHistory(db, 3_000)
    const { endpoint, secret } = await billing.core.endpoints.create({
      name: 'shop',
      url: receiver.url,
    })
    receiver.secret = secret
    const end = (await billing.core.events.feed({ after: 'end', limit: 1 })).nextCursor
    assert.deepEqual([endpoint.position, endpoint.behind], [3_000, 0])
    await billing.core.work()
    await until(async () => (await unnumbered(db)) === 0, { what: 'it is numbered' })
    const id = await insertEvent(db)
    await until(() => receiver.taken.length === 1, { what: 'what is new is sent' })
    assert.deepEqual(
      receiver.received.map((one) => one.id),
      [id],
    )
    const { data } = await billing.core.events.feed({ after: end })
    assert.deepEqual(
      data.map((one) => one.id),
      [id],
    )
  })

  test('what commits after an endpoint was made is sent to it, however long it was under way', async () => {
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    const { db, transaction } = billing.database
    const begun = Promise.withResolvers<string>()
    const ended = Promise.withResolvers<void>()
    const slow = transaction(async (inside) => {
      begun.resolve(await insertEvent(inside.db))
      await ended.promise
    })
    const late = await begun.promise
    await insertEvent(db)
    const { endpoint, secret } = await billing.core.endpoints.create({
      name: 'shop',
      url: receiver.url,
    })
    receiver.secret = secret
    const end = (await billing.core.events.feed({ after: 'end' })).nextCursor
    ended.resolve()
    await slow
    await billing.core.work()
    await until(() => receiver.taken.length > 0, { what: 'it is sent' })
    const { data } = await billing.core.events.feed({ after: end })
    assert.deepEqual(
      [endpoint.position, receiver.taken, data.map((one) => one.id)],
      [1, [late], [late]],
    )
  })

  test('a process that ends does not number a whole history first', async (t) => {
    await using billing = await openBilling(engine, withKey)
    const second = connect({
      target: { kind: 'postgres', url: billing.url ?? '' },
      log: silentLog,
      poolSize: 1,
      applicationName: 'quittance test',
      statementTimeout: muchPatience.statement,
    })
    await leaveHistory(second.db, 3_000)
    // What numbers waits for this lock, in its first batch.
    await sql`create function billing.wait() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(1); return new; end $$`.execute(second.db)
    await sql`create trigger wait before update on billing.feeds
      for each row execute function billing.wait()`.execute(second.db)
    await sql`select pg_advisory_lock(1)`.execute(second.db)
    const { feed } = await billing.runtime.parts()
    const stops = t.mock.method(feed.numberer, 'stop').mock
    await billing.core.work()
    const isWaiting = async () => {
      const { rows } = await sql`select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`.execute(
        second.db,
      )
      return rows.length > 0
    }
    await until(isWaiting, { what: 'it has begun' })
    const closing = billing.core.close()
    await until(() => stops.callCount() > 0, { what: 'it is told to end' })
    await sql`select pg_advisory_unlock(1)`.execute(second.db)
    await closing
    const left = await unnumbered(second.db)
    await second.close()
    assert.ok(left > 0 && left % 1_000 === 0, `${left} are left`)
  })

  test('who waits is woken by what another process commits, and not by looking (8)', async (t) => {
    const { answered } = sentStatements(t)
    await using billing = await openBilling(engine)
    // Its own process in all but the memory: what it hears of the other comes by the database.
    const name = 'reader'
    const url = `${billing.url}&application_name=${name}`
    const reader = coreOf(createRuntime({ database: { url } }, unhurried))
    t.after(() => reader.close())
    await billing.core.work()
    const { nextCursor } = await reader.events.feed({ after: 'end' })
    const looks = t.mock.method(globalThis, 'setInterval', () => setTimeout(() => {}, 0))
    const wait = 50_000
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    // It never ends by itself.
    t.mock.method(AbortSignal, 'timeout', (length: number) =>
      length === wait ? new AbortController().signal : timeout(length),
    )
    const pages = reader.events.pages({ after: nextCursor, wait })[Symbol.asyncIterator]()
    await pages.next()
    let woken: FeedResult | undefined
    const next = pages.next().then(({ value }) => (woken = value ?? undefined))
    // Then it has looked, and numbered what there was to number.
    const hasLooked = () => {
      const its = ({ application }: Answered) => application === name
      const listens = answered.findIndex((one) => its(one) && one.text.startsWith('select where'))
      const looks = answered.filter((one) => its(one) && listens >= 0 && one.after > listens)
      return ['last-position', 'any-unnumbered'].every((what) =>
        looks.some(({ text }) => text.includes(what)),
      )
    }
    await until(hasLooked, { what: 'it listens, and the look that comes with that is over' })
    assert.ok(looks.mock.callCount() > 0)
    const { id } = await newPayment(billing.core)
    await sendFake(billing.core, id, 'success')
    await until(() => woken !== undefined, { what: 'it is woken' })
    await next
    assert.equal(woken?.data[0]?.type, 'PaymentSucceeded')
    await pages.return?.(undefined)
    await reader.close()
  })

  test('two hundred readers who wait do not keep an endpoint from what it is sent', async () => {
    await using billing = await openBilling(engine, withKey)
    await using receiver = await startReceiver()
    await billing.core.work()
    const over = new AbortController()
    const query = { after: 'end', wait: 50_000, signal: over.signal } as const
    const readers = Array.from({ length: 200 }, () =>
      billing.core.events.pages(query)[Symbol.asyncIterator](),
    )
    // One after the other: they look at once, and then wait together.
    for (const reader of readers) await reader.next()
    const waiting = readers.map((reader) => reader.next())
    const { secret } = await billing.core.endpoints.create({ name: 'shop', url: receiver.url })
    receiver.secret = secret
    await insertEvent(billing.database.db)
    await until(() => receiver.taken.length === 1, { what: 'it is sent' })
    over.abort()
    await Promise.all(waiting)
    for (const reader of readers) await reader.return?.(undefined)
  })
})
