import { sql, type Kysely } from 'kysely'
import type { FailedAttempt } from '../events/failed-attempt.ts'
import type { Tables } from './tables.ts'

/** What an attempt was at: a call; a delivery or a deferred event. */
export type Attempted = { readonly callId: string } | { readonly deliveryId: string }

export interface NewFailedAttempt {
  readonly id: string
  readonly of: Attempted
  readonly attempt: number
  readonly listener: string | null
  readonly exception: string
}

/** In the transaction that records the failure. */
export async function insertFailedAttempt(
  db: Kysely<Tables>,
  { id, of, attempt, listener, exception }: NewFailedAttempt,
): Promise<void> {
  await db
    .insertInto('billing.failed_attempts')
    .values({
      id,
      call_id: 'callId' in of ? of.callId : null,
      delivery_id: 'deliveryId' in of ? of.deliveryId : null,
      attempt,
      listener,
      exception,
    })
    .execute()
}

/** A call that is replayed again and again has more; the last ones say why. */
const mostShown = 50

/** Oldest first. */
export async function listFailedAttempts(
  db: Kysely<Tables>,
  of: Attempted,
): Promise<readonly FailedAttempt[]> {
  const column = 'callId' in of ? sql.ref('call_id') : sql.ref('delivery_id')
  const id = 'callId' in of ? of.callId : of.deliveryId
  const { rows } = await sql<FailedAttempt>`
    select attempt, listener, exception, created_at as at from billing.failed_attempts
    where ${column} = ${id}::uuid order by id desc limit ${mostShown}`.execute(db)
  return rows.toReversed()
}

/** Of any call or delivery: so many of those with a smaller id. Returns how many. */
export async function deleteFailedAttempts(
  db: Kysely<Tables>,
  before: string,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from billing.failed_attempts where id in (
      select id from billing.failed_attempts where id < ${before}::uuid order by id limit ${limit}
    )`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
