import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from 'kysely'
import { takeDueSubscriptions } from '../../src/database/due-subscriptions.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { onPostgres } from '../support/databases.ts'
import { rollingBack } from '../support/rolled-back.ts'

onPostgres((engine) => {
  suite('what subscriptions cost', () => {
    const rolledBack = rollingBack(engine)

    test(
      'to look for due ones among 200,000 at rest reads the ends of one index',
      rolledBack(async (db) => {
        for (let from = 1; from <= 200_000; from += 20_000)
          await sql`insert into billing.subscriptions (id, managed_by, gateway, status, payable_type,
            payable_id, amount, currency, every_unit, every_count, time_zone, anchor_number,
            grace_access, next_action_at, created_at, updated_at)
          select gen_random_uuid(), 'local', 'fake', 'active', 'account', n::text, 4999, 'USD',
            'month', 1, 'UTC', 1, true, '2026-03-01Z'::timestamptz + make_interval(secs => n),
            '2026-01-01Z', '2026-01-01Z'
          from generate_series(${from}::int, ${from + 19_999}::int) as n`.execute(db)
        await sql`analyze billing.subscriptions`.execute(db)
        const reads = async () => {
          const { rows } = await sql<{ scans: bigint; probes: bigint; read: bigint }>`
            select seq_scan as scans, idx_scan as probes, idx_tup_fetch as read
            from pg_stat_xact_user_tables where relname = 'subscriptions'`.execute(db)
          const [row] = rows
          assert.ok(row)
          return [row.scans, row.probes, row.read].map(Number)
        }
        const take = (now: Date) =>
          takeDueSubscriptions(db, {
            now,
            ours: new Date(),
            limit: 1,
            token: newUuid(),
            except: [],
          })
        /** The planner looks at both ends of the index, too, as long as the statement is not named. */
        const inspect = async (expected: number, now: Date) => {
          const [scans = 0, probes = 0, read = 0] = await reads()
          assert.equal((await take(now)).length, expected)
          const [scansAfter = 0, probesAfter = 0, readAfter = 0] = await reads()
          assert.equal(scansAfter, scans)
          assert.ok(probesAfter - probes <= 4, `${probesAfter - probes} looks into indexes`)
          assert.ok(readAfter - read <= 4, `${readAfter - read} rows were read`)
        }
        await inspect(0, new Date('2026-03-01T00:00:00Z'))
        await inspect(1, new Date('2026-03-01T12:00:00Z'))
      }),
    )
  })
})
