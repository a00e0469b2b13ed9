import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import { days, minutes } from '../../../src/kernel/duration.ts'
import { extendLeases } from '../../../src/leases/leases.ts'
import {
  anyAlone,
  asNew,
  expireRows,
  failRow,
  finishRows,
  postponeRow,
  queueLease,
  returnRow,
  takeRows,
} from '../../../src/leases/queue-rows.ts'
import type { QueueRow, QueueTable } from '../../../src/leases/leased-table.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { taking } from './rows.ts'

/** A table that the queue knows nothing of: it names its columns, and that is all. */
const errands: QueueTable<QueueRow & { readonly what: string }> = {
  name: 'errands',
  length: queueLease,
  columns: sql`row.what`,
  cameAt: 'wished_at',
  isReviewed: true,
}

const create = (db: Kysely<Tables>) =>
  sql`create table errands (
    id uuid primary key default gen_random_uuid(), what text, receipt text,
    queue text default 'default', state text default 'pending', exception text,
    attempts int default 0, leases_lost int default 0, times_returned int default 0,
    wished_at timestamptz default now() - interval '1 hour', next_attempt_at timestamptz default now(),
    lease_token uuid, lease_until timestamptz, processed_at timestamptz,
    needs_review boolean default false)`.execute(db)

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  test(
    'a table is leased, and its rows end in every way, once it has named its columns',
    rolledBack(async (db) => {
      await create(db)
      await sql`insert into errands (what) values ('buy milk')`.execute(db)
      const take = async () => {
        const [row = assert.fail('nothing is due')] = await takeRows(db, errands, taking())
        return row
      }
      const due = () => sql`update errands set next_attempt_at = now()`.execute(db)
      const shown = async () => {
        const { rows } = await sql<object>`select state, attempts, times_returned as returned,
          leases_lost as lost, exception, receipt, needs_review as review from errands`.execute(db)
        return rows[0]
      }
      const row = { state: 'pending', attempts: 0, returned: 0, lost: 0, exception: null }
      const fresh = { ...row, receipt: null, review: false }

      const first = await take()
      assert.equal(first.what, 'buy milk')
      await extendLeases(db, errands, [first])
      assert.equal(await returnRow(db, errands, { lease: first, after: 0 }), true)
      assert.deepEqual(await shown(), { ...fresh, returned: 1 })

      await due()
      const away = { lease: await take(), patience: days(1), exception: 'the shop is shut' }
      assert.equal(await postponeRow(db, errands, away), minutes(10))
      assert.deepEqual(await shown(), { ...fresh, returned: 1, exception: 'the shop is shut' })

      await due()
      const over = { lease: await take(), after: undefined, exception: 'no milk' }
      assert.equal(await failRow(db, errands, { ...over, columns: { receipt: 'none' } }), true)
      const failed = { ...fresh, state: 'failed', attempts: 1, returned: 1, exception: 'no milk' }
      assert.deepEqual(await shown(), { ...failed, receipt: 'none', review: true })

      await sql`update errands set ${asNew}`.execute(db)
      await due()
      await take()
      await sql`update errands set lease_until = now() - interval '1 s'`.execute(db)
      assert.deepEqual(await expireRows(db, errands), { requeued: 1, failed: [] })
      await due()
      assert.equal(await anyAlone(db, errands), true)

      const [last = assert.fail()] = await takeRows(db, errands, taking({ alone: true }))
      const receipt = { type: 'text', values: ['paid 32'] } as const
      const finished = { leases: [last], columns: { receipt } }
      assert.deepEqual(await finishRows(db, errands, finished), [])
      assert.deepEqual(await shown(), {
        ...fresh,
        state: 'processed',
        lost: 1,
        receipt: 'paid 32',
        review: true,
      })
    }),
  )
})
