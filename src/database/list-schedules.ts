import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** Something that is done at its times, by whichever process looks first. */
export interface KnownSchedule {
  readonly name: string
  readonly nextRunAt: Date
  /** When the last completed run began. */
  readonly lastRunAt: Date | null
  /** Why the last run failed; null: it did not. */
  readonly lastError: string | null
}

/** There are a dozen, and one for each gateway that a schedule is about. */
const most = 200

/** By name. */
export async function listSchedules(db: Kysely<Tables>): Promise<readonly KnownSchedule[]> {
  const rows = await db
    .selectFrom('billing.schedules')
    .select(['name', 'next_run_at', 'last_run_at', 'last_error'])
    // What has a reason is a hold on charges, and runs nothing.
    .where('held_reason', 'is', null)
    .orderBy('name')
    .limit(most)
    .execute()
  return rows.map((row) => ({
    name: row.name,
    nextRunAt: row.next_run_at,
    lastRunAt: row.last_run_at,
    lastError: row.last_error,
  }))
}
