import { sql, type Kysely } from 'kysely'
import type { Database } from '../database/connect.ts'
import type { Tables } from '../database/tables.ts'
import type { NewId } from '../kernel/ids.ts'
import { lacksReview, reviewCalls } from '../outcomes/review-calls.ts'

const callsAtOnce = 500
const isOpen = sql`(needs_review or state = 'failed')`

/**
 * Writes reviews of calls that are marked, or have failed, without one: those of before there were
 * reviews, and what an older version marks beside this one. Returns how many.
 */
export async function addMissingReviews(
  { transaction }: Pick<Database, 'transaction'>,
  { newId, signal }: { readonly newId: NewId; readonly signal?: AbortSignal },
): Promise<number> {
  let added = 0
  for (;;) {
    const { held, lacking } = await transaction(({ db }) => addSome(db, newId))
    added += lacking
    if (held < callsAtOnce) return added
    signal?.throwIfAborted()
  }
}

/** Locked, so that nobody takes a mark away meanwhile; a call that is busy has its turn later. */
async function addSome(
  db: Kysely<Tables>,
  newId: NewId,
): Promise<{ readonly held: number; readonly lacking: number }> {
  const held = await sql<{ id: string }>`
    select id from billing.webhook_calls as call
    where ${isOpen} and ${lacksReview}
    order by received_at, id limit ${callsAtOnce} for update skip locked`.execute(db)
  const ids = held.rows.map(({ id }) => id)
  if (ids.length === 0) return { held: 0, lacking: 0 }
  // Who held them a moment ago may have written their reviews, which the statement above did not see.
  const lacking = await sql<{ id: string }>`
    select id from billing.webhook_calls as call
    where id = any(${ids}::uuid[]) and ${isOpen} and ${lacksReview}`.execute(db)
  await reviewCalls(
    db,
    lacking.rows.map(({ id }) => id),
    newId,
  )
  return { held: ids.length, lacking: lacking.rows.length }
}
