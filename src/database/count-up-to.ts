import { sql, type RawBuilder } from 'kysely'

/** Where counts end: nobody has to know it more exactly, and millions of rows are never counted. */
export const mostCounted = 10_001

/**
 * How many rows there are, up to `mostCounted`. `rows`: `from`, a condition that has an index, and the
 * order of that index. Without an order the whole table may be read, from its beginning, where those
 * that are sought do not stand; outside `readInOrder`, all that are sought, which are then sorted.
 */
export function countUpTo(rows: RawBuilder<unknown>): RawBuilder<number> {
  return sql`(select count(*)::int from (select ${rows} limit ${mostCounted}) as counted)`
}
