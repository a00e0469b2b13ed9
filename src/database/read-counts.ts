import { sql, type Kysely, type RawBuilder } from 'kysely'
import { days, hours, minutes, type Duration } from '../kernel/duration.ts'
import type { CountSpan } from './count-tables.ts'
import { interval } from './interval.ts'
import type { Tables } from './tables.ts'

// Each reads a part of the primary key: one kind of count, some metrics, one range of time.

/** How counts are put together: the last `count` lengths of time, the present one included. */
export interface CountRange {
  readonly span: CountSpan
  readonly length: Duration
  readonly count: number
}

/** What was counted in one of them, by all processes. */
export interface BucketCount {
  readonly at: Date
  readonly metric: string
  readonly label: string
  readonly value: number
}

const epoch = sql`timestamptz '2000-01-01 00:00:00+00'`

function binOf(length: Duration, at: RawBuilder<unknown>): RawBuilder<Date> {
  return sql`date_bin(${interval(length)}, ${at}, ${epoch})`
}

/** When the present one began, by the database's clock. */
export async function readPresent(
  db: Kysely<Tables>,
  { length }: CountRange,
): Promise<{ readonly now: Date; readonly bucket: Date }> {
  const { rows } = await sql<{ now: Date; bucket: Date }>`
    select statement_timestamp() as now,
      ${binOf(length, sql`statement_timestamp()`)} as bucket`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('a time without a row')
  return row
}

/** Of all gateways together; callbacks only where they name one: what names none is a stranger's. */
export async function readBuckets(
  db: Kysely<Tables>,
  metrics: readonly string[],
  { span, length, from }: CountRange & { readonly from: Date },
): Promise<readonly BucketCount[]> {
  const { rows } = await sql<BucketCount>`
    select ${binOf(length, sql`at`)} as at, metric, label, sum(value)::float8 as value
    from billing.counts
    where span = ${span} and metric = any(${[...metrics]}::text[]) and at >= ${from}
      and (gateway <> '' or metric not like 'callback%')
    group by 1, metric, label`.execute(db)
  return rows
}

/** What was counted of a gateway, in some time. */
export interface GatewayCount {
  readonly gateway: string
  readonly metric: string
  readonly label: string
  readonly value: number
}

/** In this time, the present minute or quarter of an hour included. */
export async function readGatewayCounts(
  db: Kysely<Tables>,
  metrics: readonly string[],
  { span, within }: { readonly span: 'minute' | 'quarter'; readonly within: Duration },
): Promise<readonly GatewayCount[]> {
  const length = span === 'minute' ? minutes(1) : minutes(15)
  const { rows } = await sql<GatewayCount>`
    select gateway, metric, label, sum(value)::float8 as value
    from billing.counts
    where span = ${span} and metric = any(${[...metrics]}::text[]) and gateway <> ''
      and at > ${binOf(length, sql`statement_timestamp()`)} - ${interval(within)}
    group by gateway, metric, label`.execute(db)
  return rows
}

/** How a gateway's callbacks were answered in one minute. */
export interface AnsweredMinute {
  readonly gateway: string
  readonly at: Date
  readonly answered: number
  readonly accepted: number
}

/** Minutes are kept for four hours. */
export async function readAnsweredMinutes(
  db: Kysely<Tables>,
  within: Duration,
): Promise<readonly AnsweredMinute[]> {
  const { rows } = await sql<AnsweredMinute>`
    select gateway, at, sum(value)::float8 as answered,
      coalesce(sum(value) filter (where label = 'accepted'), 0)::float8 as accepted
    from billing.counts
    where span = 'minute' and metric = 'callbacks_total' and gateway <> ''
      and at > statement_timestamp() - ${interval(within)}
    group by gateway, at`.execute(db)
  return rows
}

/** When something of a gateway was counted last. */
export interface LastCount {
  readonly gateway: string
  readonly metric: string
  readonly label: string
  /** To the minute of the last four hours, to a quarter of an hour of a week, then to the hour. */
  readonly at: Date
}

/** Older ones are not looked for. */
export const lastCountedWithin: Duration = days(90)

/** `accepted` callbacks, and secrets that verified one. */
export async function readLastCounts(db: Kysely<Tables>): Promise<readonly LastCount[]> {
  const { rows } = await sql<LastCount>`
    select gateway, metric, label, max(at) as at from (
      ${countedIn('minute', hours(4))} union all
      ${countedIn('quarter', days(8))} union all
      ${countedIn('hour', lastCountedWithin)}
    ) as counted group by gateway, metric, label`.execute(db)
  return rows
}

function countedIn(span: CountSpan, within: Duration): RawBuilder<unknown> {
  const lastOf = (metric: RawBuilder<unknown>) => sql`
    select gateway, metric, label, max(at) as at from billing.counts
    where span = ${span} and ${metric} and gateway <> ''
      and at > statement_timestamp() - ${interval(within)}
    group by gateway, metric, label`
  // Each by itself: of a choice of both, a plan may read refused callbacks as well.
  return sql`${lastOf(sql`metric = 'callbacks_total' and label = 'accepted'`)}
    union all ${lastOf(sql`metric = 'verified_by_total'`)}`
}
