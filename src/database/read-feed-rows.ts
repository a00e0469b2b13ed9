import { sql, type Kysely, type Selectable } from 'kysely'
import { named } from './named-statements.ts'
import type { EventsTable, Tables } from './tables.ts'

/** A numbered event as stored. */
export type FeedRow = Omit<Selectable<EventsTable>, 'position'> & {
  readonly position: bigint
}

/** The events beyond a position, in their order: all those without a gap, at most so many. */
export async function readFeedRows(
  db: Kysely<Tables>,
  position: bigint,
  limit: number,
): Promise<readonly FeedRow[]> {
  const { rows } = await sql<FeedRow>`${named('read-feed')}
    select id, dedup_key, type, payment_id, payment_method_id, subscription_id, invoice_id,
      webhook_call_id, source, superseded, data, created_at, position
    from billing.events where position > ${position}::bigint
    order by position limit ${limit}`.execute(db)
  // Where a read may see half of a commit, what is missing comes with the next one.
  const gap = rows.findIndex((row, index) => row.position !== position + 1n + BigInt(index))
  return gap === -1 ? rows : rows.slice(0, gap)
}
