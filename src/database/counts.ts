import { sql, type Kysely } from 'kysely'
import type { CountSpan } from './count-tables.ts'
import { interval } from './interval.ts'
import { days, hours, minutes, type Duration } from '../kernel/duration.ts'
import type { Tables } from './tables.ts'

/** What one process has counted in one minute. */
export interface MinuteCount {
  readonly at: Date
  readonly metric: string
  readonly gateway: string
  readonly label: string
  readonly value: number
}

/** The values are whole, not what was added: to write them again changes nothing. */
export async function writeMinutes(
  db: Kysely<Tables>,
  process: string,
  counts: readonly MinuteCount[],
): Promise<void> {
  if (counts.length === 0) return
  await sql`
    insert into billing.counts (span, at, metric, gateway, label, process, value)
    select 'minute', at, metric, gateway, label, ${process}, value
    from unnest(
      ${counts.map(({ at }) => at)}::timestamptz[],
      ${counts.map(({ metric }) => metric)}::text[],
      ${counts.map(({ gateway }) => gateway)}::text[],
      ${counts.map(({ label }) => label)}::text[],
      ${counts.map(({ value }) => value)}::float8[]
    ) as counted (at, metric, gateway, label, value)
    on conflict (span, metric, at, gateway, label, process)
    do update set value = excluded.value`.execute(db)
}

interface SumRule {
  readonly from: CountSpan
  readonly to: CountSpan
  /** How long one of the sums is. */
  readonly length: Duration
  /** How many of the last ones are summed again: what comes late still counts. */
  readonly again: number
  /** How long their parts are kept: longer than they are summed again. */
  readonly keep: Duration
}

const quarter: SumRule = {
  from: 'minute',
  to: 'quarter',
  length: minutes(15),
  again: 12,
  keep: hours(4),
}
const hour: SumRule = { from: 'quarter', to: 'hour', length: hours(1), again: 4, keep: days(8) }
const keepHours: Duration = days(400)

/**
 * Sums what all processes have counted since this was last done, and a while before, and deletes old
 * minutes. To do it again changes nothing. `lastRunAt`: undefined, if it never was.
 */
export async function sumCounts(db: Kysely<Tables>, lastRunAt: Date | undefined): Promise<void> {
  for (const rule of [quarter, hour]) await sumInto(db, rule, lastRunAt)
  await deleteBefore(db, 'minute', quarter.keep)
}

/** Deletes sums that are old; in a day there are some thousands. */
export async function deleteOldSums(db: Kysely<Tables>): Promise<void> {
  await deleteBefore(db, 'quarter', hour.keep)
  await deleteBefore(db, 'hour', keepHours)
}

/** Begins at the beginning of a sum: none is made of a part of its parts. */
async function sumInto(
  db: Kysely<Tables>,
  { from, to, length, again }: SumRule,
  lastRunAt: Date | undefined,
): Promise<void> {
  const epoch = sql`timestamptz '2000-01-01 00:00:00+00'`
  const last = lastRunAt === undefined ? epoch : sql`${lastRunAt}::timestamptz`
  await sql`
    insert into billing.counts (span, at, metric, gateway, label, process, value)
    with sums as materialized (
    select ${to} as span, date_bin(${interval(length)}, at, ${epoch}) as at, metric, gateway, label,
      sum(value) as value
    from billing.counts
    where span = ${from} and at >= date_bin(${interval(length)}, least(statement_timestamp(), ${last}), ${epoch})
      - ${interval((again - 1) * length)}
    group by 2, metric, gateway, label)
    select span, at, metric, gateway, label, '', value from sums
    on conflict (span, metric, at, gateway, label, process)
    do update set value = excluded.value where counts.value <> excluded.value`.execute(db)
}

async function deleteBefore(db: Kysely<Tables>, span: CountSpan, keep: Duration): Promise<void> {
  await sql`
    delete from billing.counts
    where span = ${span} and at < statement_timestamp() - ${interval(keep)}`.execute(db)
}
