import { sql, type RawBuilder } from 'kysely'
import type { Duration } from '../kernel/duration.ts'

/** An amount of time in SQL. */
export function interval(length: Duration): RawBuilder<unknown> {
  return sql`make_interval(secs => ${length / 1000})`
}
