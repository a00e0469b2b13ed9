import { sql, type Kysely } from 'kysely'
import type { EventForward, EventForwardAttempt } from '../events/endpoint.ts'
import type { FailedAttempt } from '../events/failed-attempt.ts'
import type { Tables } from './tables.ts'

/** Of each list; an event that is sent again and again has more, and the last ones say why. */
const mostShown = 100

/**
 * The attempts at its deliveries to queued listeners, and at its own dispatch where it was deferred,
 * that have failed; oldest first.
 */
export async function listEventFailures(
  db: Kysely<Tables>,
  eventId: string,
): Promise<readonly FailedAttempt[]> {
  const deliveries = await db
    .selectFrom('billing.deliveries')
    .select('id')
    .where('event_id', '=', eventId)
    .execute()
  // A deferred event has had the id of the event that it has become.
  const ids = [eventId, ...deliveries.map(({ id }) => id)]
  const { rows } = await sql<FailedAttempt>`
    select attempt, listener, exception, created_at as at from billing.failed_attempts
    where delivery_id = any(${ids}::uuid[]) order by id desc limit ${mostShown}`.execute(db)
  return rows.toReversed()
}

/** How it stands at endpoints where it did not go at first, or was sent again; by their names. */
export async function listForwardsOf(
  db: Kysely<Tables>,
  eventId: string,
): Promise<readonly EventForward[]> {
  const { rows } = await sql<EventForward>`
    select endpoint.name as endpoint, forward.event_id as "eventId",
      forward.position::float8 as position, forward.state,
      forward.cause, forward.attempts, forward.next_attempt_at as "nextAttemptAt"
    from billing.endpoints as endpoint
    join billing.forwards as forward
      on forward.endpoint_id = endpoint.id and forward.event_id = ${eventId}::uuid
    order by endpoint.name limit ${mostShown}`.execute(db)
  return rows
}

/** The requests by which it was sent, newest first. */
export async function listAttemptsOf(
  db: Kysely<Tables>,
  eventId: string,
): Promise<readonly EventForwardAttempt[]> {
  const { rows } = await sql<EventForwardAttempt>`
    select endpoint.name as endpoint, attempt.id, attempt.event_id as "eventId", attempt.attempt,
      attempt.at, attempt.result, attempt.status, attempt.duration_ms as "durationMs",
      attempt.response
    from billing.forward_attempts as attempt
    left join billing.endpoints as endpoint on endpoint.id = attempt.endpoint_id
    where attempt.event_id = ${eventId}::uuid
    order by attempt.id desc limit ${mostShown}`.execute(db)
  return rows
}
