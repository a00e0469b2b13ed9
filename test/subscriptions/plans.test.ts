import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { takeDueSubscriptions } from '../../src/queue/due-subscriptions.ts'
import { listDueSubscriptions } from '../../src/database/list-due-subscriptions.ts'
import type { Tables } from '../../src/database/tables.ts'
import { heldCharges, subscriptionsDue } from '../../src/health/sources.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { closeForgottenPages } from '../../src/money/close-page.ts'
import type { MoneyContext } from '../../src/money/context.ts'
import { outboxEvents } from '../../src/queue/deferred-events.ts'
import { takeRows } from '../../src/leases/queue-rows.ts'
import { onPostgres } from '../support/databases.ts'
import { rollingBack } from '../support/rolled-back.ts'

/** Rows of each table. */
const many = 6_000
/** Periods that wait for somebody to pay on a page. */
const pages = many / 10
const few = 20

interface Work {
  readonly look: () => Promise<unknown>
  /** Rows of a table that it may read. */
  readonly most: number
  /** How many it finds. */
  readonly found?: number
}

/** Subscriptions at rest, each with a paid period and its events; every tenth has an unpaid page. */
async function fill(db: Kysely<Tables>): Promise<void> {
  await sql`create temporary table made on commit drop as
    select n, gen_random_uuid() as subscription, gen_random_uuid() as period,
      gen_random_uuid() as payment, '2026-01-01Z'::timestamptz + make_interval(secs => n) as at
    from generate_series(1, ${many}::int) as n`.execute(db)
  await sql`insert into billing.subscriptions (id, managed_by, gateway, status, payable_type,
      payable_id, amount, currency, every_unit, every_count, time_zone, anchor_number,
      grace_access, paid_until, next_action_at, created_at, updated_at)
    select subscription, 'local', 'fake', 'active', 'account', n::text, 4999, 'USD', 'month', 1,
      'UTC', 1, true, at + interval '1 month', at + interval '1 month', at, at
    from made`.execute(db)
  await sql`insert into billing.subscription_periods (id, subscription_id, number, kind, state,
      starts_at, ends_at, nominal_starts_at, amount, currency, status_before,
      paid_payment_id, paid_at)
    select period, subscription, 1, 'paid', case when n % 10 = 0 then 'open' else 'paid' end,
      at, at + interval '1 month', at, 4999, 'USD', 'active',
      case when n % 10 <> 0 then payment end, case when n % 10 <> 0 then at end
    from made`.execute(db)
  await sql`insert into billing.payments (id, gateway, status, amount, currency, payable_type,
      payable_id, period_id, checkout, created_at, updated_at)
    select payment, 'fake', case when n % 10 = 0 then 'pending' else 'paid' end, 4999, 'USD',
      'account', n::text, period, case when n % 10 = 0 then 'open' else 'closed' end,
      at, at
    from made`.execute(db)
  await sql`insert into billing.payments (id, gateway, status, amount, currency, payable_type,
      payable_id, checkout, created_at, updated_at)
    select gen_random_uuid(), 'fake', case when n % 2 = 0 then 'pending' else 'paid' end, 4999,
      'USD', 'order', n::text, 'open', at, at
    from made`.execute(db)
  await sql`insert into billing.deferred_events (id, dedup_key, type, cause, queue,
      state, next_attempt_at, processed_at, subscription_id, data, event_number)
    select gen_random_uuid(), 'subscription:renewed:' || period, 'SubscriptionRenewed', 'service',
      'default', 'processed', at, at, subscription, '{}', 1
    from made`.execute(db)
  await sql`analyze billing.subscriptions, billing.subscription_periods, billing.payments,
    billing.deferred_events, billing.schedules`.execute(db)
}

const tables = ['subscriptions', 'subscription_periods', 'payments', 'deferred_events']

/** Tables that were read from end to end, and rows that were read by an index, so far. */
async function readings(db: Kysely<Tables>) {
  const { rows } = await sql<{ name: string; scans: bigint; read: bigint }>`
    select relname as name, seq_scan as scans, coalesce(idx_tup_fetch, 0) as read
    from pg_stat_xact_user_tables
    where schemaname = 'billing' and relname = any(${tables}::text[])`.execute(db)
  return new Map(
    rows.map(({ name, scans, read }) => [name, [Number(scans), Number(read)] as const]),
  )
}

onPostgres((engine) => {
  suite('how work on subscriptions is found among many rows', () => {
    const rolledBack = rollingBack(engine)

    test(
      'what is done again and again reads no table from end to end, and few rows',
      rolledBack(async (db) => {
        await fill(db)
        const rest = new Date('2026-01-31Z')
        const take = (now: Date, except: readonly string[]) =>
          takeDueSubscriptions(db, {
            managedBy: 'local',
            now,
            ours: new Date(),
            limit: 1,
            token: newUuid(),
            except,
          })
        const database = { db } as Database
        const processing = { database, subscriptionTime: async () => rest }
        const context = { processing } as unknown as MoneyContext
        const events = { limit: 8, token: newUuid(), alone: false, listeners: [] }
        const works: Readonly<Record<string, Work>> = {
          'due subscriptions': { look: () => take(rest, []), most: 4, found: 0 },
          'due subscriptions but of resting gateways': {
            most: few,
            look: () => take(rest, ['fake', 'stripe']),
          },
          'one due subscription': {
            look: () => take(new Date('2026-02-10Z'), ['stripe']),
            most: 4,
            found: 1,
          },
          'subscriptions due until then': {
            most: few,
            look: () =>
              listDueSubscriptions(db, { until: new Date('2026-02-01T00:00:20Z'), limit: 20 }),
          },
          'the oldest due': { most: few, look: () => subscriptionsDue(db) },
          holds: { most: few, look: () => heldCharges(db) },
          'events of subscriptions': {
            most: few,
            look: () => takeRows(db, outboxEvents, events),
          },
          'pages that were forgotten': { most: pages, look: () => closeForgottenPages(context) },
        }
        for (const [name, { look, most, found }] of Object.entries(works)) {
          const before = await readings(db)
          const looked = await look()
          if (found !== undefined) assert.equal((looked as readonly unknown[]).length, found, name)
          for (const [table, [scans, read]] of await readings(db)) {
            const [scansBefore = 0, readBefore = 0] = before.get(table) ?? []
            assert.equal(scans, scansBefore, `${name}: ${table} was read from end to end`)
            assert.ok(read - readBefore <= most, `${name}: ${read - readBefore} rows of ${table}`)
          }
        }
      }),
    )
  })
})
