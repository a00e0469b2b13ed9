import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import type { CountSpan } from '../../src/database/count-tables.ts'

/** What is stored: `<span> <time> <metric> <gateway> <label>`, with the sum over all processes. */
export async function stored(
  { db }: Pick<Database, 'db'>,
  span: CountSpan,
): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; value: number }>`
    select concat_ws(' ', to_char(at at time zone 'UTC', 'HH24:MI'), metric,
      nullif(gateway, ''), nullif(label, '')) as name, sum(value)::float8 as value
    from billing.counts where span = ${span} group by 1 order by 1`.execute(db)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

/** The sum of a metric over all minutes and processes, by gateway and label. */
export async function counted(
  { db }: Pick<Database, 'db'>,
  metric: string,
): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; value: number }>`
    select concat_ws(' ', nullif(gateway, ''), nullif(label, '')) as name,
      sum(value)::float8 as value
    from billing.counts where span = 'minute' and metric = ${metric}
    group by 1 order by 1`.execute(db)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}
