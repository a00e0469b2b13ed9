import { sql, type Kysely } from 'kysely'
import { named } from './named-statements.ts'
import type { Tables } from './tables.ts'

/** What became of one attempt to number. */
export type NumberingResult =
  /** Another process holds the feed. */
  | { readonly kind: 'busy' }
  /** `last`: the position that the newest numbered event has. */
  | { readonly kind: 'numbered'; readonly count: number; readonly last: bigint }

/** Events that are numbered together at most. */
export const numberedTogether = 1_000

/**
 * Gives committed events their positions. To be called in a transaction of its own, READ COMMITTED,
 * and in these two statements: the second has to look with a snapshot from after the lock. One alone
 * would look from before it, and leave holes where another process has numbered meanwhile.
 */
export async function numberEvents(db: Kysely<Tables>): Promise<NumberingResult> {
  const feed = await sql<{ last: bigint }>`${named('hold-feed')}
    select last_position as last from billing.feeds where name = 'events'
    for update skip locked`.execute(db)
  const before = feed.rows[0]?.last
  if (before === undefined) return { kind: 'busy' }
  const { rows } = await sql<{ last: bigint }>`${named('number-events')}
    with due as materialized (
      select id, created_at from billing.events where position is null
      order by created_at, id limit ${numberedTogether} for no key update skip locked),
    numbered as (select id, row_number() over (order by created_at, id) as place from due),
    done as (
      update billing.events as event set position = ${before}::bigint + place
      from numbered where event.id = numbered.id returning 1)
    update billing.feeds set last_position = ${before}::bigint + (select count(*) from done)
    where name = 'events' and exists (select from done)
    returning last_position as last`.execute(db)
  const last = rows[0]?.last ?? before
  return { kind: 'numbered', count: Number(last - before), last }
}

/** Whether there is anything to number: a look that holds nothing, and writes nothing. */
export async function anyUnnumbered(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`${named('any-unnumbered')}
    select exists (select from billing.events where position is null) as found`.execute(db)
  return rows[0]?.found === true
}

/** How many events wait for their position, counted up to a limit. */
export async function countUnnumbered(db: Kysely<Tables>, limit: number): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from (
      select from billing.events where position is null limit ${limit}) as waiting`.execute(db)
  return Number(rows[0]?.count ?? 0)
}

/** The position of the newest numbered event; 0: there is none. */
export async function readLastPosition(db: Kysely<Tables>): Promise<bigint> {
  const { rows } = await sql<{ last: bigint }>`${named('last-position')}
    select last_position as last from billing.feeds where name = 'events'`.execute(db)
  return rows[0]?.last ?? 0n
}

/** Where the feed ends. */
export interface FeedEnd {
  /** The position that the newest committed event has, or gets. */
  readonly position: bigint
  /** The newest event that has none yet; null: all have theirs. */
  readonly unnumbered: string | null
}

/** With what waits for its position: after a time without workers that may be all there is. */
export async function readEnd(db: Kysely<Tables>): Promise<FeedEnd> {
  const { rows } = await sql<FeedEnd>`
    select last_position + (select count(*) from billing.events where position is null) as position,
      (select id from billing.events where position is null
        order by created_at desc, id desc limit 1) as unnumbered
    from billing.feeds where name = 'events'`.execute(db)
  return rows[0] ?? { position: 0n, unnumbered: null }
}

/** The position that an event has, or gets once those before it have theirs. */
export async function findPlace(db: Kysely<Tables>, id: string): Promise<bigint | undefined> {
  const { rows } = await sql<{ place: bigint }>`
    select coalesce(event.position, feed.last_position + (
      select count(*) from billing.events as other
      where other.position is null
        and (other.created_at, other.id) <= (event.created_at, event.id))) as place
    from billing.events as event, billing.feeds as feed
    where event.id = ${id}::uuid and feed.name = 'events'`.execute(db)
  return rows[0]?.place
}

/** The position of an event: null if it has none yet, undefined if there is no such event. */
export async function findPosition(
  db: Kysely<Tables>,
  id: string,
): Promise<bigint | null | undefined> {
  const { rows } = await sql<{ position: bigint | null }>`${named('find-position')}
    select position from billing.events where id = ${id}::uuid`.execute(db)
  return rows[0]?.position
}

/** The id and the time of the event at a position; undefined: there is none. */
export async function findAtPosition(
  db: Kysely<Tables>,
  position: bigint,
): Promise<{ readonly id: string; readonly createdAt: Date } | undefined> {
  const { rows } = await sql<{ id: string; createdAt: Date }>`${named('find-at-position')}
    select id, created_at as "createdAt" from billing.events
    where position = ${position}::bigint`.execute(db)
  return rows[0]
}

/** The position of the first event behind a position that is not from before a time. */
export async function findFirstSince(
  db: Kysely<Tables>,
  position: bigint,
  since: Date,
): Promise<bigint | undefined> {
  const { rows } = await sql<{ position: bigint }>`${named('find-first-since')}
    select position from billing.events
    where position > ${position}::bigint and created_at >= ${since}
    order by position limit 1`.execute(db)
  return rows[0]?.position
}
