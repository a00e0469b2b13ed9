import { sql } from 'kysely'
import type { Database } from '../database/connect.ts'

/** What monitoring asks: every problem is one sentence; none means ready. */
export interface Readiness {
  readonly ready: boolean
  readonly problems: readonly string[]
  readonly pendingCalls: number
  /** How long the oldest call that is due has been waiting. */
  readonly oldestPendingSeconds: number
}

/** Beyond this, nobody is processing. */
export const tooOldSeconds = 300

export async function readReadiness(database: Database): Promise<Readiness> {
  const { rows } = await sql<{ pending: bigint; oldest: number; read_only: boolean }>`
    select count(*) as pending,
      coalesce(extract(epoch from clock_timestamp() - min(next_attempt_at)), 0)::float8 as oldest,
      current_setting('transaction_read_only') = 'on' as read_only
    from billing.webhook_calls where state = 'pending'`.execute(database.db)
  const row = rows[0] ?? { pending: 0n, oldest: 0, read_only: true }
  // Reading meets no error there, and would go on there for as long as the connections live.
  if (row.read_only) database.renew()
  const oldestPendingSeconds = Math.max(0, Math.round(row.oldest))
  const problems = [
    ...(row.read_only ? ['the database is read-only'] : []),
    ...(oldestPendingSeconds > tooOldSeconds
      ? [`a call has been waiting for ${oldestPendingSeconds} s: is a worker running?`]
      : []),
  ]
  return {
    ready: problems.length === 0,
    problems,
    pendingCalls: Number(row.pending),
    oldestPendingSeconds,
  }
}
