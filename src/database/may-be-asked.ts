import { sql, type Kysely } from 'kysely'
import { minutes, type Duration } from '../kernel/duration.ts'
import { interval } from './interval.ts'
import { named } from './named-statements.ts'
import type { Tables } from './tables.ts'

/** Providers are searched for what was made within an hour of this. */
const askedWithin: Duration = minutes(5)

/**
 * For each row, whether the provider may still be asked, once, for its charge, checkout or refund. A
 * process that stood still since it wrote the row must not: a poll may have found nothing, and the
 * next attempt may be on its way.
 */
export async function mayBeAsked(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<readonly boolean[]> {
  const { rows } = await sql<{ id: string }>`${named('may-be-asked')}
    select id from billing.payments
    where id = any(${[...ids]}::uuid[]) and status = 'pending' and answered_at is null
      and (type = 'refund' or checkout = 'unknown')
      and coalesce(handed_at, created_at) > statement_timestamp() - ${interval(askedWithin)}`.execute(
    db,
  )
  const asked = new Set(rows.map(({ id }) => id))
  return ids.map((id) => asked.has(id))
}
