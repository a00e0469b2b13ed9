import { sql } from 'kysely'
import type { Database } from '../database/connect.ts'
import { mostCounted } from '../database/count-up-to.ts'
import { interval } from '../database/interval.ts'
import { readNewestPayment } from '../database/payments.ts'
import { readInOrder } from '../database/read-in-order.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { readSubscriptionWork, subscriptionWarnings } from './read-subscription-work.ts'

/** What monitoring asks: every problem is one sentence; none means ready. */
export interface Readiness {
  readonly ready: boolean
  readonly problems: readonly string[]
  /** What a person should know although callbacks are taken: charges that are held, for one. */
  readonly warnings: readonly string[]
  /** Up to 10,001: counting ends there. */
  readonly pendingCalls: number
  /** How long the oldest call that is due has been waiting. */
  readonly oldestPendingSeconds: number
}

/** Beyond this, no worker is processing. */
export const tooOldSeconds = 300

/** If a commit waits this long for a standby, its callbacks have been answered 503. */
const longCommit: Duration = seconds(2)

const nothing = {
  pending: 0n,
  oldest: 0,
  oldest_known: 0,
  unknown: [],
  read_only: true,
  unconfirmed: false,
}

/**
 * `gateways`: names of those that this process knows. Looks at the 10,001 pending calls that have been
 * due for longest: with more, none of them may be of a gateway that is known, and the others are not seen.
 */
export async function readReadiness(
  database: Database,
  gateways: readonly string[],
): Promise<Readiness> {
  const isKnown = sql`gateway = any(${[...gateways]}::text[])`
  const query = sql<{
    pending: bigint
    oldest: number
    oldest_known: number
    unknown: readonly string[]
    read_only: boolean
    unconfirmed: boolean
  }>`
    select count(*) as pending,
      coalesce(extract(epoch from statement_timestamp() - min(next_attempt_at)), 0)::float8 as oldest,
      coalesce(extract(epoch from
        statement_timestamp() - min(next_attempt_at) filter (where ${isKnown})), 0)::float8
        as oldest_known,
      coalesce(array_agg(distinct gateway) filter (where not ${isKnown}
        and next_attempt_at < statement_timestamp() - ${interval(seconds(tooOldSeconds))}), '{}')
        as unknown,
      current_setting('transaction_read_only') = 'on' as read_only,
      exists (
        select from pg_stat_activity
        where datname = current_database() and wait_event = 'SyncRep'
          and query_start < statement_timestamp() - ${interval(longCommit)}
      ) as unconfirmed
    from (
      select gateway, next_attempt_at from billing.webhook_calls where state = 'pending'
      order by next_attempt_at limit ${mostCounted}
    ) as waiting`
  // As requests do: what they cannot read is a problem.
  await readNewestPayment(database.db)
  const { rows } = await readInOrder(database, (db) => query.execute(db))
  const row = rows[0] ?? nothing
  // Reading meets no error there, and would continue there for as long as the connections live.
  if (row.read_only) database.reconnect()
  const oldestPendingSeconds = Math.max(0, Math.round(row.oldest))
  const oldestKnownSeconds = Math.round(row.oldest_known)
  const problems = [
    ...(row.read_only ? ['the database is read-only'] : []),
    ...(row.unconfirmed ? ['commits wait for a synchronous standby that does not answer'] : []),
    ...(oldestKnownSeconds > tooOldSeconds
      ? [`a call has been waiting for ${oldestKnownSeconds} s: is a worker running?`]
      : []),
    ...row.unknown.map(
      (name) => `calls of ${name} are waiting: no gateway of this name is known here`,
    ),
  ]
  return {
    ready: problems.length === 0,
    problems,
    warnings: subscriptionWarnings(await readSubscriptionWork(database)),
    pendingCalls: Number(row.pending),
    oldestPendingSeconds,
  }
}
