import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { findCall } from '../../src/database/calls.ts'
import { listCalls, type CallsQuery } from '../../src/database/list-calls.ts'
import { listEvents } from '../../src/database/events.ts'
import { listPayments } from '../../src/database/list-payments.ts'
import { listReviews } from '../../src/database/list-reviews.ts'
import { keysSought } from '../../src/database/payment-keys.ts'
import { readInOrder } from '../../src/database/read-in-order.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { replayCall } from '../../src/processing/replay-call.ts'
import { failedCalls, waitingCalls } from '../../src/health/sources.ts'
import { prune } from '../../src/upkeep/prune.ts'
import { repairEvents } from '../../src/upkeep/repair-events.ts'
import { replayFailed } from '../../src/upkeep/replay-failed.ts'
import { sayReads } from '../inspect/assert-reads.ts'
import { newPayment, openBilling, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { idMadeAt } from '../support/id-made-at.ts'
import { seed } from '../support/seeding.ts'

/** More than a list looks among for what is rare. */
const many = 30_000
/** The work of twenty days, the last of it ten minutes old. */
const time = `now() - interval '10 min' - interval '20 days' * (${many} - number) / ${many}`
const id = sql.raw(idMadeAt(time))

/** With narrow rows, a planner reads a table of these few as soon as an index. */
const wide = sql`jsonb_build_object('note', repeat('x', 600))`

/** One customer has all the payments. */
const walkIn = { customer: 'walk-in' }

/** What one person or one turn looks at reads few rows, however many there are. */
onPostgres((engine) => {
  let billing: TestBilling
  /** A call that ended long ago, and its payment. */
  let old: { readonly id: string; readonly payment: string }
  before(async () => {
    billing = await openBilling(engine)
    const template = await newPayment(billing.core)
    await seed(billing.url, async (database) => {
      await write(database, template.id)
      await sql`analyze billing.payments, billing.payment_keys, billing.payment_transitions,
        billing.events, billing.webhook_calls, billing.disputes`.execute(database.db)
    })
  })
  after(() => billing.close())

  const write = (database: Database, template: string) =>
    database.transaction(async ({ db }) => {
      await sql`set local session_replication_role = replica`.execute(db)
      await sql`create temp table work on commit drop as
        select number, ${sql.raw(time)} as at, ${id} as call, ${id} as event, ${id} as transition,
          gen_random_uuid() as payment
        from generate_series(1, ${many}::int) as number`.execute(db)
      await sql`insert into billing.payments (id, gateway, status, amount, currency, payable_type,
          payable_id, created_at, updated_at, metadata)
        select work.payment, gateway, 'paid', amount, currency, payable_type, payable_id, at, at,
          ${wide}
        from work, billing.payments where id = ${template}`.execute(db)
      const [key] = keysSought(walkIn)
      await sql`insert into billing.payment_keys select ${key}, at, payment from work`.execute(db)
      await sql`insert into billing.payment_transitions
          (id, payment_id, from_status, to_status, cause, webhook_call_id, at)
        select transition, payment, 'pending', 'paid', 'call', call, at from work`.execute(db)
      await sql`insert into billing.events (id, dedup_key, type, payment_id, webhook_call_id, source,
          created_at)
        select event, 'payment:paid:' || payment, 'PaymentSucceeded', payment, call, 'call', at
        from work`.execute(db)
      // Those that failed for good, and those for a person, all came on one day.
      await sql`insert into billing.webhook_calls (id, gateway, queue, url, headers, kind, payload,
          outcome, payment_id, received_at, processed_at, dedup_claims, state, needs_review)
        select call, 'fake', 'default', '/', '{}', 'json', '{}', '[]', payment, at, at,
          jsonb_build_array('payment:paid:' || payment),
          case when number between 6000 and 6999 then 'failed' else 'processed' end,
          number between 7000 and 7999
        from work`.execute(db)
      const { rows } = await sql<{ id: string; payment: string }>`
        select call as id, payment from work where number = 101`.execute(db)
      old = rows[0] ?? old
    })

  const readSoFar = async () => {
    const { db } = billing.database
    await sayReads(billing.database)
    const { rows } = await sql<{ read: number }>`
      select (sum(seq_tup_read) + (select sum(idx_tup_read) from pg_stat_user_indexes
        where schemaname = 'billing'))::int as read
      from pg_stat_user_tables where schemaname = 'billing'`.execute(db)
    return rows[0]?.read ?? 0
  }
  /** That it reads no more rows than this. */
  const assertReads = async (most: number, work: () => Promise<unknown>) => {
    const before = await readSoFar()
    await work()
    const read = (await readSoFar()) - before
    assert.ok(read <= most, `${read} rows were read`)
  }
  const inTheMiddle = async <T extends { readonly nextCursor: string | null }>(
    list: (cursor?: string) => Promise<T>,
  ) => {
    const { nextCursor } = await list()
    return list(nextCursor ?? undefined)
  }

  const lists: Readonly<Record<string, CallsQuery>> = {
    'all calls': {},
    'calls that failed': { state: 'failed' },
    'calls for a person': { needsReview: true },
    'calls that wait': { state: 'pending' },
    'calls of a gateway': { gateway: 'fake' },
  }
  for (const [what, query] of Object.entries(lists)) {
    test(`a page of ${what} reads hardly more than it shows`, async () => {
      const { database } = billing
      await assertReads(600, () =>
        inTheMiddle((cursor) => listCalls(database, { ...query, ...(cursor && { cursor }) })),
      )
    })
  }

  type ListRare = (
    database: Database,
    query: { gateway: string; cursor?: string },
  ) => Promise<{
    readonly data: readonly { readonly id: string }[]
    readonly nextCursor: string | null
  }>
  const rareOf: Readonly<Record<string, { list: ListRare; table: string; idOf: () => string }>> = {
    calls: { list: listCalls, table: 'billing.webhook_calls', idOf: () => old.id },
    payments: {
      list: ({ db }, query) => listPayments(db, query),
      table: 'billing.payments',
      idOf: () => old.payment,
    },
  }
  for (const [what, { list, table, idOf }] of Object.entries(rareOf)) {
    test(`${what} of a rare gateway are looked for among 20,000, and from there on`, async () => {
      const { db } = billing.database
      const belongsTo = (gateway: string) =>
        sql`update ${sql.raw(table)} set gateway = ${gateway} where id = ${idOf()}::uuid`.execute(
          db,
        )
      await belongsTo('rare')
      await assertReads(25_000, async () => {
        const { data, nextCursor } = await list(billing.database, { gateway: 'rare' })
        assert.deepEqual(data, [])
        assert.notEqual(nextCursor, null)
      })
      const found: string[] = []
      let pages = 0
      for (let cursor: string | null | undefined; cursor !== null; pages += 1) {
        const page = await list(billing.database, { gateway: 'rare', ...(cursor && { cursor }) })
        found.push(...page.data.map(({ id: one }) => one))
        cursor = page.nextCursor
      }
      assert.deepEqual(found, [idOf()])
      assert.ok(pages >= many / 20_000, `${pages} pages`)
      await belongsTo('fake')
    })
  }

  test('of very many that wait, the newest come first, and each once', async () => {
    const { db } = billing.database
    await sql`update billing.webhook_calls set state = 'pending' where id in (
      select id from billing.webhook_calls where state = 'processed' and not needs_review
      order by id limit 2100)`.execute(db)
    const { rows } = await sql<{ id: string }>`
      select id from billing.webhook_calls where state = 'pending' order by id desc`.execute(db)
    const found: string[] = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await listCalls(billing.database, {
        state: 'pending',
        limit: 100,
        ...(cursor && { cursor }),
      })
      found.push(...page.data.map(({ id: one }) => one))
      cursor = page.nextCursor
    }
    assert.deepEqual(
      found,
      rows.map(({ id: one }) => one),
    )
    assert.ok(found.length > 2_000)
    await sql`update billing.webhook_calls set state = 'processed' where state = 'pending'`.execute(
      db,
    )
  })

  test('so does a page of a payment’s calls, and of events and payments', async () => {
    const { db } = billing.database
    await assertReads(100, () => listCalls(billing.database, { paymentId: old.payment }))
    await assertReads(100, () => listEvents(db, { paymentId: old.payment }))
    await assertReads(300, () => inTheMiddle((cursor) => listEvents(db, cursor ? { cursor } : {})))
    await assertReads(300, () =>
      inTheMiddle((cursor) => listPayments(db, cursor ? { cursor } : {})),
    )
    await assertReads(300, () =>
      inTheMiddle((cursor) => listPayments(db, { ...walkIn, ...(cursor && { cursor }) })),
    )
  })

  test('a call is read with its claims, and replayed with their deliveries, by a few rows', async () => {
    const { db } = billing.database
    await assertReads(100, async () => {
      const call = await findCall(db, old.id)
      assert.deepEqual(call?.dedupClaims, [`payment:paid:${old.payment}`])
    })
    await assertReads(200, () => replayCall(db, old.id))
  })

  test('what failed since a time is counted and replayed without the rest', async () => {
    const { db } = billing.database
    const since = new Date(Date.now() - 60 * 60 * 1_000)
    await assertReads(3_000, () =>
      replayFailed(db, { since, gateway: 'fake', announce: async () => {} }),
    )
    const { database } = billing
    await assertReads(10_000, () =>
      Promise.all([readInOrder(database, waitingCalls), readInOrder(database, failedCalls)]),
    )
  })

  test('a page of reviews reads itself', async () => {
    const { database } = billing
    const { numAffectedRows } = await sql`
      insert into billing.reviews (id, key, gateway, reason, payment_id, webhook_call_id)
      select gen_random_uuid(), uuid_send(id), gateway, 'call_failed', payment_id, id
      from billing.webhook_calls where needs_review or state = 'failed'`.execute(database.db)
    assert.equal(numAffectedRows, 2_000n)
    await sql`analyze billing.reviews`.execute(database.db)
    for (const query of [{}, { state: 'open' }, { paymentId: old.payment }] as const) {
      await assertReads(300, () =>
        inTheMiddle((cursor) => listReviews(database.db, { ...query, ...(cursor && { cursor }) })),
      )
    }
  })

  test('prune and the look for lost events read what they are about', async () => {
    await assertReads(5_000, () => prune(billing.database, { retentionDays: 30, log: silentLog }))
    const context = await billing.runtime.registeredContext()
    const since = new Date(Date.now() - 60_000)
    // Of these forty minutes: 50 transitions, their payments and events.
    await assertReads(1_000, () => repairEvents(context, since))
  })
})
