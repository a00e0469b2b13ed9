import { sql, type Kysely } from 'kysely'
import { interval } from './interval.ts'
import type { Tables } from './tables.ts'
import type { DisabledReason } from '../events/endpoint.ts'
import { minutes, type Duration } from '../kernel/duration.ts'

/** An endpoint to which nothing is sent, and no operator said so. */
export interface DisabledEndpoint {
  readonly id: string
  readonly name: string
  readonly reason: DisabledReason
  readonly since: Date
}

const mostEndpoints = 100

export async function readDisabledEndpoints(
  db: Kysely<Tables>,
): Promise<readonly DisabledEndpoint[]> {
  const { rows } = await sql<DisabledEndpoint>`
    select id, name, disabled_reason as reason, disabled_at as since from billing.endpoints
    where not enabled and disabled_reason <> 'operator'
    order by disabled_at desc limit ${mostEndpoints}`.execute(db)
  return rows
}

/** Since when the oldest open review waits; null: none is open. */
export async function readOldestReview(db: Kysely<Tables>): Promise<Date | null> {
  const { rows } = await sql<{ at: Date }>`
    select created_at as at from billing.reviews where state = 'open'
    order by id limit 1`.execute(db)
  return rows[0]?.at ?? null
}

/** With a worker, nothing that is due waits for so long. */
const dueFor: Duration = minutes(0.25)

/**
 * Whether a delivery or a deferred event is due and not leased. `outbox` stands in the condition
 * because the index begins with it.
 */
export async function isDeliveryDue(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ isDue: boolean }>`
    select exists (
      select from billing.deliveries where state = 'pending' and outbox in (false, true)
        and next_attempt_at < statement_timestamp() - ${interval(dueFor)}) as "isDue"`.execute(db)
  return rows[0]?.isDue === true
}
