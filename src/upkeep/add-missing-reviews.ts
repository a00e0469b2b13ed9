import { sql, type Kysely } from 'kysely'
import type { Database } from '../database/connect.ts'
import type { Tables } from '../database/tables.ts'
import type { NewId } from '../kernel/ids.ts'
import { lacksReview, reviewCalls } from '../outcomes/review-calls.ts'

const callsAtOnce = 500

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
    const calls = await transaction(({ db }) => addSome(db, newId))
    added += calls
    if (calls < callsAtOnce) return added
    signal?.throwIfAborted()
  }
}

/** Locked, so that nobody takes a mark away meanwhile; a call that is busy has its turn later. */
async function addSome(db: Kysely<Tables>, newId: NewId): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select id from billing.webhook_calls as call
    where (needs_review or state = 'failed') and ${lacksReview}
    order by received_at, id limit ${callsAtOnce} for update skip locked`.execute(db)
  const ids = rows.map(({ id }) => id)
  await reviewCalls(db, ids, newId)
  return ids.length
}
