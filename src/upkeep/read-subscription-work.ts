import { sql } from 'kysely'
import { listHeldCharges, type HeldCharges } from '../database/charge-holds.ts'
import type { Database } from '../database/connect.ts'

/** How the work on subscriptions goes. */
export interface SubscriptionWork {
  /** How long the oldest that is due has been waiting. */
  readonly oldestDueSeconds: number
  readonly held: readonly HeldCharges[]
}

/** Beyond this, nobody works on subscriptions. */
export const dueTooLongSeconds = 15 * 60

/** Two looks into indexes, and one at the few rows of schedules. */
export async function readSubscriptionWork({ db }: Database): Promise<SubscriptionWork> {
  const [due, held] = await Promise.all([
    sql<{ seconds: number }>`
      select coalesce(extract(epoch from statement_timestamp() - least(
          (select min(next_action_at) from billing.subscriptions
            where managed_by = 'local' and next_action_at is not null),
          (select min(next_action_at) from billing.subscriptions
            where managed_by = 'provider' and next_action_at is not null))),
        0)::float8 as seconds`.execute(db),
    listHeldCharges(db),
  ])
  return { oldestDueSeconds: Math.max(0, Math.round(due.rows[0]?.seconds ?? 0)), held }
}

/** What monitoring says of it, a sentence each. */
export function subscriptionWarnings({ oldestDueSeconds, held }: SubscriptionWork) {
  return [
    ...(oldestDueSeconds > dueTooLongSeconds
      ? [`a subscription has been due for ${oldestDueSeconds} s: is a worker running?`]
      : []),
    // The reason is somebody's own words, and for operators.
    ...held.map(heldUntil),
  ]
}

export function heldText(held: HeldCharges): string {
  return `${heldUntil(held)}: ${held.reason}`
}

function heldUntil({ gateway, until }: HeldCharges): string {
  const which = gateway === null ? 'no period is charged' : `no period of ${gateway} is charged`
  const end = until === null ? 'until it is released' : `before ${until.toISOString()}`
  return `${which} ${end}`
}
