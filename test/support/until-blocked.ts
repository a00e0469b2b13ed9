import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../src/database/tables.ts'
import { until } from './until.ts'

/** Until the work waits for a lock that somebody else holds in this database, or has ended. */
export async function untilBlocked(db: Kysely<Tables>, work: Promise<unknown>): Promise<void> {
  let hasEnded = false
  const end = () => {
    hasEnded = true
  }
  work.then(end, end)
  await until(
    async () => {
      const { rows } = await sql`select from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`.execute(db)
      if (rows.length === 0) await pause(0)
      return rows.length > 0 || hasEnded
    },
    { what: 'the work waits for a lock, or has ended' },
  )
}
