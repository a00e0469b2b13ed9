import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../src/database/tables.ts'
import { openBilling } from '../support/billing.ts'
import { embedded } from '../support/databases.ts'

/** How often each table was vacuumed and analyzed. */
async function vacuumed(db: Kysely<Tables>) {
  const { rows } = await sql<{ name: string; times: number }>`
    select relname as name, least(vacuum_count, analyze_count)::int as times
    from pg_stat_user_tables where schemaname = 'billing'`.execute(db)
  return new Map(rows.map(({ name, times }) => [name, times]))
}

/** Old calls that are done with. */
const insertOld = (db: Kysely<Tables>, calls: number) =>
  sql`insert into billing.webhook_calls
      (id, gateway, queue, url, headers, kind, payload, state, received_at, processed_at)
    select ('00000001-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'fake', 'billing', '/', '[]', 'json', '{}', 'processed',
      at, at
    from generate_series(1, ${calls}::int) as n, (select now() - interval '1 year' as at) as old`.execute(
    db,
  )

test('a run of prune vacuums every table, also where it deletes nothing', async () => {
  await using billing = await openBilling(embedded)
  const { core, database } = billing
  const before = await vacuumed(database.db)
  assert.ok(before.size > 30)
  await core.prune()
  const after = await vacuumed(database.db)
  for (const [name, times] of before) assert.equal(after.get(name), times + 1, name)
})

test('where a great many calls are deleted, their table is vacuumed meanwhile', async () => {
  await using billing = await openBilling(embedded)
  const { core, database } = billing
  await insertOld(database.db, 51_000)
  const before = await vacuumed(database.db)
  assert.equal((await core.prune()).deletedCalls, 51_000)
  const after = await vacuumed(database.db)
  const times = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
  assert.deepEqual([times('webhook_calls'), times('payments')], [2, 1])
})
