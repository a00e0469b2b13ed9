import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'

/** Upkeep reads what it is about: with millions of other rows its statements would be cut. */
onPostgres((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
    const payment = await newPayment(billing.core)
    await sendFake(billing.core, payment.id, 'success')
  })
  after(() => billing.close())

  const many = 5_000
  /** Copies of the only row, with these fields besides. */
  const fill = async (table: 'webhook_calls' | 'payments', fields: object) => {
    const { db } = billing.database
    const name = sql.table(`billing.${table}`)
    await sql`insert into ${name} select (copy).* from (
      select jsonb_populate_record(row, ${JSON.stringify(fields)}::jsonb
        || jsonb_build_object('id', gen_random_uuid())) as copy
      from ${name} as row, generate_series(1, ${many}::int)) as copies`.execute(db)
    await sql`vacuum (analyze) ${name}`.execute(db)
  }
  /** How many rows of the table this reads; a connection says so after its statements. */
  const readBy = async (table: string, work: () => Promise<unknown>) => {
    const { db } = billing.database
    const readSoFar = async () => {
      await sql`select pg_stat_force_next_flush()`.execute(db)
      const { rows } = await sql<{ read: number }>`
        select (seq_tup_read + (select sum(idx_tup_read) from pg_stat_user_indexes as one
          where one.relid = whole.relid))::int as read
        from pg_stat_user_tables as whole
        where schemaname = 'billing' and relname = ${table}`.execute(db)
      return rows[0]?.read ?? 0
    }
    const before = await readSoFar()
    await work()
    return (await readSoFar()) - before
  }

  test('prune reads no call that is younger than the window', async () => {
    await fill('webhook_calls', {})
    const read = await readBy('webhook_calls', () => billing.core.prune())
    assert.ok(read < many, `${read} rows were read`)
  })

  test('events are looked for of what was paid lately, and of nothing older', async () => {
    await fill('payments', { status: 'paid', updated_at: '2020-01-01T00:00:00Z' })
    const read = await readBy('payments', () => billing.core.reconcile())
    assert.ok(read < many, `${read} rows were read`)
  })
})
