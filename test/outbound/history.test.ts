import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../src/database/tables.ts'
import { connect } from '../../src/database/connect.ts'
import { coreOf } from '../../src/billing/create-core.ts'
import type { FeedResult } from '../../src/billing/event-types.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { newPayment, openBilling, sendFake } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { insertEvent } from './events-in-feed.ts'
import { startReceiver } from './receiver.ts'

const withKey = { billing: { encryptionKey: randomBytes(32).toString('base64') } }

/** What an older version has left: events of last year, without places. */
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

  test('a process that ends does not number a whole history first', async () => {
    await using billing = await openBilling(engine, withKey)
    const second = connect({
      target: { kind: 'postgres', url: billing.url ?? '' },
      log: silentLog,
      poolSize: 1,
      applicationName: 'quittance test',
    })
    await leaveHistory(second.db, 30_000)
    await billing.core.work()
    await until(async () => (await unnumbered(second.db)) < 30_000, { what: 'it has begun' })
    await billing.core.close()
    const left = await unnumbered(second.db)
    await second.close()
    assert.ok(left > 0 && left % 1_000 === 0, `${left} are left`)
  })

  test('who waits is woken by what another process commits, and not by looking (8)', async (t) => {
    await using billing = await openBilling(engine)
    // Its own process in all but the memory: what it hears of the other comes by the database.
    const reader = coreOf(createRuntime({ database: { url: billing.url ?? '' } }))
    await billing.core.work()
    const { nextCursor } = await reader.events.feed({ after: 'end' })
    const looks = t.mock.method(globalThis, 'setInterval', () => setTimeout(() => {}, 0))
    const pages = reader.events.pages({ after: nextCursor, wait: 50_000 })[Symbol.asyncIterator]()
    await pages.next()
    let woken: FeedResult | undefined
    const next = pages.next().then(({ value }) => (woken = value ?? undefined))
    await until(
      async () => {
        const { rows } = await sql`select from pg_stat_activity
          where application_name = 'quittance feed' and datname = current_database()
            and state = 'idle' and query like 'select where%'`.execute(billing.database.db)
        return rows.length > 0
      },
      { what: 'it listens' },
    )
    assert.ok(looks.mock.callCount() > 0)
    // The look that comes with listening is over by then.
    await pause(300)
    const { id } = await newPayment(billing.core)
    await sendFake(billing.core, id, 'success')
    // Long before its wait is over.
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
    await Promise.all(readers.map((reader) => reader.next()))
    const { secret } = await billing.core.endpoints.create({ name: 'shop', url: receiver.url })
    receiver.secret = secret
    await insertEvent(billing.database.db)
    await until(() => receiver.taken.length === 1, { what: 'it is sent' })
    over.abort()
    for (const reader of readers) await reader.return?.(undefined)
  })
})
