import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import type { Tables } from '../../src/database/tables.ts'
import { defaultSchema, schemaOf } from '../../src/database/schema.ts'
import { createVacuum } from '../../src/upkeep/vacuum.ts'
import { openBilling } from '../support/billing.ts'
import { embedded } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { createPool, startOwner, temporaryFolder } from './support.ts'

/** How often each table was vacuumed and analyzed. */
async function vacuumed(db: Kysely<Tables>) {
  const { rows } = await sql<{ name: string; times: number }>`
    select relname as name, least(vacuum_count, analyze_count)::int as times
    from pg_stat_user_tables where schemaname = 'billing'`.execute(db)
  return new Map(rows.map(({ name, times }) => [name, times]))
}

/** Calls that are done with. */
const insertCalls = (db: Kysely<Tables>, calls: number, daysOld: number) =>
  sql`insert into billing.webhook_calls
      (id, gateway, queue, url, headers, kind, payload, state, received_at, processed_at)
    select ('00000001-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'fake', 'billing', '/', '[]', 'json', '{}', 'processed',
      at, at
    from generate_series(1, ${calls}::int) as n, (select now() - make_interval(days => ${daysOld}::int) as at) as old`.execute(
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

test('what is known of the columns is written anew every night, and does not grow', async () => {
  await using billing = await openBilling(embedded)
  const { db } = billing.database
  await insertCalls(db, 5_000, 1)
  // Long texts, each another: of such columns the most is kept.
  await sql`update billing.webhook_calls set url = repeat(md5(id::text), 3),
    exception = repeat(md5(id::text || 'a'), 5), queue = repeat(md5(id::text || 'b'), 2),
    awaiting = repeat(md5(id::text || 'c'), 2), payment_id = id`.execute(db)
  const vacuum = createVacuum(billing.database, undefined)
  const size = async () => {
    const { rows } = await sql<{ bytes: number }>`
      select pg_relation_size('pg_catalog.pg_statistic')::int as bytes`.execute(db)
    return rows[0]?.bytes ?? 0
  }
  for (let night = 0; night < 5; night += 1) await vacuum.all()
  const before = await size()
  for (let night = 0; night < 40; night += 1) await vacuum.all()
  // Without its own vacuum there are 14 pages more.
  const pages = ((await size()) - before) / 8192
  assert.ok(pages <= 3, `${pages} pages more`)
})

test('a run that is stopped ends between two tables, and is gone on with', async () => {
  await using billing = await openBilling(embedded)
  const { database } = billing
  const before = await vacuumed(database.db)
  const stopping = new AbortController()
  stopping.abort()
  const vacuum = createVacuum(database, stopping.signal)
  await assert.rejects(vacuum.all(), { name: 'AbortError' })
  assert.deepEqual(await vacuumed(database.db), before)
  await createVacuum(database, undefined).all()
  assert.notDeepEqual(await vacuumed(database.db), before)
})

test('where a great many calls are deleted, their table is vacuumed meanwhile', async () => {
  await using billing = await openBilling(embedded)
  const { core, database } = billing
  await insertCalls(database.db, 51_000, 365)
  const before = await vacuumed(database.db)
  assert.equal((await core.prune()).deletedCalls, 51_000)
  const after = await vacuumed(database.db)
  const times = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
  assert.deepEqual([times('webhook_calls'), times('payments')], [2, 1])
})

test('it waits for its turn; a database that is killed meanwhile ends it, and nothing else', async (t) => {
  const folder = temporaryFolder(t)
  const owner = startOwner(t, 'serve', folder)
  await owner.line('ready')
  const socket = await findEmbedded(folder)
  const pool = createPool(t, socket)
  // An index whose expression never ends once there is a switch: whoever analyzes it leaves a file,
  // and is busy for good.
  await pool.query(`
    create schema billing;
    create table billing.one as select 1 as id;
    create table billing.switch (at int);
    create function public.tell() returns void language plpgsql as $$
      begin execute format('copy (select) to %L', current_setting('data_directory') || '/stalled');
      end $$;
    create function public.stall(id int) returns int immutable language plpgsql as $$
      begin
        if exists (select from billing.switch) then perform public.tell(); end if;
        while exists (select from billing.switch) loop end loop; return id; end $$;
    create index on billing.one (public.stall(id))`)
  const connection = { ...socket, user: 'quittance', database: 'quittance' }
  const impatient = { ...connection, connectionTimeoutMillis: 500 }
  const vacuum = createVacuum(
    { kind: 'embedded', connection: impatient, schema: schemaOf(defaultSchema) },
    undefined,
  )
  const busy =
    pool.query(`do $$ declare until timestamptz := clock_timestamp() + interval '2 seconds';
    begin while clock_timestamp() < until loop end loop; end $$`)
  await Promise.all([busy, vacuum.all()])
  await pool.query('insert into billing.switch values (1)')
  const cut = assert.rejects(vacuum.all(), /Connection terminated/)
  const stalled = join(folder, 'database/stalled')
  await until(() => existsSync(stalled), { what: 'the vacuum is at it' })
  owner.child.kill('SIGKILL')
  await cut
})
