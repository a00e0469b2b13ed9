import { sql, type Kysely } from 'kysely'
import { days } from '../kernel/duration.ts'
import { interval } from './interval.ts'
import type { Tables } from './tables.ts'

/** What a refused callback looked like. Nothing of its body, its query or a header's value is kept. */
export interface RefusalSample {
  /** Canonical; empty: the callback named no gateway that there is. */
  readonly gateway: string
  readonly reason: string
  /** The first characters of what it called its gateway, if there is none of that name. */
  readonly name: string | null
  /** The network of its sender: a /24 or a /48. */
  readonly network: string | null
  /** As read, or as announced. */
  readonly bodyBytes: number | null
  /** Its first characters. */
  readonly contentType: string | null
  readonly headerNames: readonly string[]
  /** Whether it had a header for a signature; null: the gateway has none. */
  readonly hasSignature: boolean | null
  /** How far the time that it states lies ahead of ours; null: it states none, or none was read. */
  readonly clockSkewSeconds: number | null
}

/** A sample, and when it was taken. */
export interface StoredRefusal extends RefusalSample {
  readonly at: Date
}

/** Of each gateway and reason. */
export const samplesKept = 5
const mostRows = 400
const keptFor = days(7)

/** Takes the place of the oldest of its gateway and reason, once there are five. */
export async function writeRefusal(db: Kysely<Tables>, sample: RefusalSample): Promise<void> {
  const { gateway, reason } = sample
  await sql`
    insert into billing.refusals as refusal (gateway, reason, slot, at, name, network, body_bytes,
      content_type, header_names, has_signature, clock_skew_seconds)
    with place as materialized (
      select place.slot from generate_series(0, ${samplesKept - 1}::int) as place (slot)
      left join billing.refusals as kept
        on kept.gateway = ${gateway} and kept.reason = ${reason} and kept.slot = place.slot
      order by kept.at nulls first, place.slot limit 1)
    select ${gateway}, ${reason}, place.slot, statement_timestamp(), ${sample.name}::text,
      ${sample.network}::text, ${sample.bodyBytes}::integer, ${sample.contentType}::text,
      ${[...sample.headerNames]}::text[], ${sample.hasSignature}::boolean,
      ${sample.clockSkewSeconds}::integer
    from place
    on conflict (gateway, reason, slot) do update set at = excluded.at, name = excluded.name,
      network = excluded.network, body_bytes = excluded.body_bytes,
      content_type = excluded.content_type, header_names = excluded.header_names,
      has_signature = excluded.has_signature, clock_skew_seconds = excluded.clock_skew_seconds`.execute(
    db,
  )
  await deleteSpareRefusals(db)
}

/** Those of long ago, and the oldest of too many: a gateway may make up reasons. */
async function deleteSpareRefusals(db: Kysely<Tables>): Promise<void> {
  await sql`delete from billing.refusals where at <= (
    select at from billing.refusals order by at desc offset ${mostRows} limit 1)`.execute(db)
  await deleteOldRefusals(db)
}

export async function deleteOldRefusals(db: Kysely<Tables>): Promise<void> {
  await sql`delete from billing.refusals
    where at < statement_timestamp() - ${interval(keptFor)}`.execute(db)
}

/** Newest first. */
export async function listRefusals(
  db: Kysely<Tables>,
  gateway: string | undefined,
): Promise<readonly StoredRefusal[]> {
  const { rows } = await sql<StoredRefusal>`
    select gateway, reason, at, name, network, body_bytes as "bodyBytes",
      content_type as "contentType", header_names as "headerNames", has_signature as "hasSignature",
      clock_skew_seconds as "clockSkewSeconds"
    from billing.refusals
    where at >= statement_timestamp() - ${interval(keptFor)}
      ${gateway === undefined ? sql`` : sql`and gateway = ${gateway}`}
    order by at desc limit ${mostRows}`.execute(db)
  return rows
}

/** What was counted of callbacks, by how they were answered or why they were refused. */
export interface AnswerCount {
  /** Empty: they named no gateway that there is. */
  readonly gateway: string
  readonly metric: string
  readonly label: string
  readonly value: number
}

const countedFor = days(1)

/** Of the last 24 hours, up to a minute ago, by all processes. */
export async function countAnswersGiven(
  db: Kysely<Tables>,
  gateway: string | undefined,
): Promise<readonly AnswerCount[]> {
  const { rows } = await sql<AnswerCount>`
    select gateway, metric, label, sum(value)::float8 as value from billing.counts
    where span = 'quarter' and at >= statement_timestamp() - ${interval(countedFor)}
      and metric in ('callbacks_refused_total', 'callbacks_total')
      ${gateway === undefined ? sql`` : sql`and gateway = ${gateway}`}
    group by gateway, metric, label having sum(value) > 0`.execute(db)
  return rows
}
