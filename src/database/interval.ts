import { sql, type RawBuilder } from 'kysely'
import type { Duration } from '../kernel/duration.ts'

/** An amount of time in SQL. */
export function interval(length: Duration): RawBuilder<unknown> {
  return sql`make_interval(secs => ${length / 1000})`
}

/** The instant so long from now by the database's clock, by which it will be compared. */
export function inTime(wait: Duration | null): RawBuilder<Date | null> {
  return wait === null ? sql`null` : sql`statement_timestamp() + ${interval(wait)}`
}
