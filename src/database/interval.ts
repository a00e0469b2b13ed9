import { sql, type RawBuilder } from 'kysely'
import type { Duration } from '../kernel/duration.ts'

/** A length of time in SQL. */
export function interval(length: Duration): RawBuilder<unknown> {
  return sql`make_interval(secs => ${length / 1000})`
}

/** The instant this far from now by the database's clock, which will also compare it; or null. */
export function inTime(wait: Duration | null): RawBuilder<Date | null> {
  return sql`statement_timestamp() + make_interval(secs => ${wait === null ? null : wait / 1000})`
}
