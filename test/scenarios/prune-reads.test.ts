import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openBilling, newPayment, sendFake } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'

/** A run reads what is old: with millions of young calls its statements would be cut. */
onPostgres((engine) => {
  test('prune reads no call that is younger than the window', async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    const payment = await newPayment(core)
    await sendFake(core, payment.id, 'success')
    await sql`insert into billing.webhook_calls select (copy).* from (
        select jsonb_populate_record(call, jsonb_build_object('id', gen_random_uuid())) as copy
        from billing.webhook_calls as call, generate_series(1, 5000)) as copies`.execute(
      database.db,
    )
    await sql`vacuum (analyze) billing.webhook_calls`.execute(database.db)
    const before = await rowsRead()
    assert.equal((await core.prune()).deletedCalls, 0)
    const read = (await rowsRead()) - before
    assert.ok(read < 100, `${read} rows were read`)

    /** A statement's reads are counted once its connection has said so. */
    async function rowsRead(): Promise<number> {
      await sql`select pg_stat_force_next_flush()`.execute(database.db)
      const { rows } = await sql<{ read: number }>`
        select (tables.seq_tup_read + sum(indexes.idx_tup_read))::int as read
        from pg_stat_user_tables as tables
        join pg_stat_user_indexes as indexes using (relid)
        where tables.schemaname = 'billing' and tables.relname = 'webhook_calls'
        group by tables.seq_tup_read`.execute(database.db)
      return rows[0]?.read ?? 0
    }
  })
})
