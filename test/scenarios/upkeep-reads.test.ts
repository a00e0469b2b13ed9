import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { connect } from '../../src/database/connect.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { requeueCallsWithPayment } from '../../src/outcomes/waiting-calls.ts'
import { prune } from '../../src/upkeep/prune.ts'
import { markUnknownPayments } from '../../src/upkeep/sweep.ts'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { onPostgres } from '../support/databases.ts'
import { idMadeAt } from '../support/id-made-at.ts'

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
  /** Copies of a row, made at this time, with these fields besides. */
  const fill = async (
    table: 'webhook_calls' | 'payment_transitions',
    fields: object,
    madeAt = 'now()',
  ) => {
    const { db } = billing.database
    const name = sql.table(`billing.${table}`)
    await sql`insert into ${name} select (copy).* from (
      select jsonb_populate_record(row, ${JSON.stringify(fields)}::jsonb
        || jsonb_build_object('id', ${sql.raw(idMadeAt(madeAt))})) as copy
      from ${name} as row, generate_series(1, ${many}::int)
      where row.id = (select id from ${name} limit 1)) as copies`.execute(db)
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

  test('a backlog that takes longer to count than a statement may is deleted all the same', async () => {
    const proxy = await startCutProxy(billing.url ?? '')
    const target = { kind: 'postgres', url: proxy.url } as const
    const pruning = connect({ target, log: silentLog, poolSize: 1, applicationName: 'pruning' })
    try {
      const longAgo = '2020-01-01T00:00:00Z'
      const fields = { received_at: longAgo, state: 'processed' }
      await fill('webhook_calls', fields, `timestamptz '${longAgo}'`)
      const { struck } = proxy.next(/select count\(.* where state in/s, 'cut_before')
      const shown: (readonly [number, number])[] = []
      const { deletedCalls } = await prune(pruning, {
        retentionDays: 30,
        log: silentLog,
        onProgress: (done, total) => shown.push([done, total]),
      })
      await struck
      assert.equal(deletedCalls, many)
      assert.deepEqual(shown.at(-1), [many, many])
    } finally {
      await pruning.close()
      await proxy.close()
    }
  })

  test('however many calls wait for payments, no statement looks at all of them, and none is forgotten', async () => {
    const proxy = await startCutProxy(billing.url ?? '')
    const target = { kind: 'postgres', url: proxy.url } as const
    const sweeping = connect({ target, log: silentLog, poolSize: 1, applicationName: 'sweeping' })
    try {
      const foreign = [
        { result: 'ignored', type: 'payment', reason: 'unknown_payment', detail: 'paid' },
      ]
      const waiting = { state: 'ignored', payment_id: null, outcome: foreign }
      await fill('webhook_calls', { ...waiting, awaiting: 'provider:fake/pi_foreign' })
      const { db } = billing.database
      const of = async (key: string, place: number) => {
        const { rows } = await sql<{ id: string }>`
          update billing.webhook_calls set awaiting = ${key}, received_at = now() - interval '2 days'
          where id = (select id from billing.webhook_calls where awaiting is not null
            order by awaiting, id offset ${place}::int limit 1) returning id`.execute(db)
        return rows[0]?.id ?? ''
      }
      const unknown = [await of(`id:${randomUUID()}`, 10), await of(`id:${randomUUID()}`, 4_990)]
      const { id } = await newPayment(billing.core)
      const early = [await of(`id:${id}`, 20), await of(`id:${id}`, many - 1)]
      assert.deepEqual((await requeueCallsWithPayment(sweeping.db)).toSorted(), early.toSorted())
      const { log, lines } = capturedLog()
      assert.equal(await markUnknownPayments(sweeping, { log, newId: newUuid }), 2)
      assert.deepEqual(
        lines.flatMap(({ calls }) => calls as string[]).toSorted(),
        unknown.toSorted(),
      )
      const statements = proxy.statements.filter((text) => /billing.webhook_calls/.test(text))
      assert.ok(statements.length >= 2 * (many / 1_000), `${statements.length} statements`)
    } finally {
      await sweeping.close()
      await proxy.close()
    }
  })

  test('events are looked for of what was paid lately, and of nothing older', async () => {
    await fill('payment_transitions', {}, `timestamptz '2020-01-01'`)
    const read = await readBy('payment_transitions', () => billing.core.reconcile())
    assert.ok(read < many, `${read} rows were read`)
  })
})
