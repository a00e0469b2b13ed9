import { sql, type Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** A stretch of calls by their ids, which begin with the time. */
export interface CallStretch {
  /** The smallest id of it. */
  readonly from: string
  /** All of its ids are smaller; undefined: it ends with the newest. */
  readonly before: string | undefined
  /** How many at most, from the newest on. */
  readonly rows: number
}

export interface LookedAtCall {
  readonly id: string
  readonly isHit: boolean
}

/**
 * Looks whether the stored payloads of a stretch contain one of the texts, as they are. Newest first;
 * fewer than `rows` are the last of the stretch.
 */
export async function lookInsideCalls(
  db: Kysely<Tables>,
  { from, before, rows: most }: CallStretch,
  texts: readonly string[],
): Promise<readonly LookedAtCall[]> {
  const behind = before === undefined ? sql`` : sql`and id < ${before}::uuid`
  const contains = texts.map((text) => sql`strpos(payload::text, ${text}) > 0`)
  const { rows } = await sql<{ id: string; is_hit: boolean }>`
    select id, coalesce(${sql.join(contains, sql` or `)}, false) as is_hit
    from (
      select id, payload from billing.webhook_calls
      where id >= ${from}::uuid ${behind} order by id desc limit ${most}
    ) as looked_at
    order by id desc`.execute(db)
  return rows.map(({ id, is_hit: isHit }) => ({ id, isHit }))
}
