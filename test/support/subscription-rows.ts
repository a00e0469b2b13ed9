import { sql, type Insertable, type Kysely } from 'kysely'
import { insertDeferredEvents, subscriptionEvents } from '../../src/database/deferred-events.ts'
import type {
  SubscriptionPeriodsTable,
  SubscriptionsTable,
} from '../../src/database/subscription-tables.ts'
import type { Tables } from '../../src/database/tables.ts'
import type { Cause } from '../../src/payments/payment.ts'
import type { PlannedEvent } from '../../src/subscriptions/events.ts'
import type { SubscriptionEvent } from '../../src/subscriptions/change.ts'
import { newUuid } from '../../src/kernel/ids.ts'

/** Rows of subscriptions as their tests need them, written without any decision. */

const day = 24 * 60 * 60 * 1000

/** An active one at the gateway `fake`, paid for another ten days. */
export async function insertSubscription(
  db: Kysely<Tables>,
  fields: Partial<Insertable<SubscriptionsTable>> = {},
): Promise<string> {
  const id = fields.id ?? newUuid()
  const now = Date.now()
  await db
    .insertInto('billing.subscriptions')
    .values({
      id,
      managed_by: 'local',
      gateway: 'fake',
      status: 'active',
      payable_type: 'account',
      payable_id: '7',
      amount: 9_900n,
      currency: 'UAH',
      every_unit: 'month',
      every_count: 1,
      time_zone: 'UTC',
      anchor_number: 1,
      grace_access: true,
      paid_until: new Date(now + 10 * day),
      created_at: new Date(now),
      updated_at: new Date(now),
      ...fields,
    })
    .execute()
  return id
}

/** Period 1, paid for nothing; or as the fields say. */
export async function insertPeriod(
  db: Kysely<Tables>,
  subscriptionId: string,
  fields: Partial<Insertable<SubscriptionPeriodsTable>> = {},
): Promise<string> {
  const id = fields.id ?? newUuid()
  const now = Date.now()
  await db
    .insertInto('billing.subscription_periods')
    .values({
      id,
      subscription_id: subscriptionId,
      number: 1,
      kind: 'paid',
      state: 'paid',
      starts_at: new Date(now - 20 * day),
      ends_at: new Date(now + 10 * day),
      nominal_starts_at: new Date(now - 20 * day),
      amount: 0n,
      currency: 'UAH',
      status_before: 'incomplete',
      ...fields,
    })
    .execute()
  return id
}

/** A subscription, and what its events come from, if not from a poll. */
export interface FiredBy {
  readonly subscriptionId: string
  readonly cause?: Cause
  readonly callId?: string | null
  readonly queue?: string
}

/**
 * Locks the subscription, numbers the events after its last, and defers them; in a transaction.
 * Returns them.
 */
export async function fire(
  db: Kysely<Tables>,
  by: string | FiredBy,
  planned: readonly PlannedEvent[],
): Promise<readonly SubscriptionEvent[]> {
  const firedBy = typeof by === 'string' ? { subscriptionId: by } : by
  const { subscriptionId, cause = 'poll', callId = null, queue = 'default' } = firedBy
  const { event_number: last } = await db
    .selectFrom('billing.subscriptions')
    .select('event_number')
    .where('id', '=', subscriptionId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const events = planned.map((one, index): SubscriptionEvent => {
    const eventNumber = last + index + 1
    return { ...one, dedupKey: `${one.type}:${subscriptionId}/${eventNumber}`, eventNumber }
  })
  await sql`update billing.subscriptions set event_number = ${last + events.length}
    where id = ${subscriptionId}::uuid`.execute(db)
  const origin = { subscriptionId, cause, callId, queue, newId: newUuid }
  await insertDeferredEvents(db, subscriptionEvents(events, origin))
  return events
}
