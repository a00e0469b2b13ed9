import { sql } from 'kysely'
import type { BillingCore } from '../../src/billing/types.ts'
import type { Database } from '../../src/database/connect.ts'
import { lockCountersOf } from '../../src/database/usage-counters.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { QuotasInput } from '../../src/money/quota-rules.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'

/** A subscription that costs nothing, and so is active at once. */
export async function sell(
  core: BillingCore,
  quotas: QuotasInput,
  fields: Partial<CreateSubscriptionInput> = {},
): Promise<string> {
  const { subscription } = await core.subscriptions.create({
    gateway: 'fake',
    payable: { type: 'account', id: newUuid() },
    amount: 0,
    currency: 'UAH',
    every: 'month',
    quotas,
    ...fields,
  })
  return subscription.id
}

/** Sums of the keys that were counted. */
export async function keysOf(
  { db }: Pick<Database, 'db'>,
  subscriptionId: string,
): Promise<{ readonly keys: number; readonly units: number }> {
  const { rows } = await sql<{ keys: number; units: number }>`
    select count(*)::int as keys, coalesce(sum(units), 0)::int as units
    from billing.usage_keys where subscription_id = ${subscriptionId}::uuid`.execute(db)
  return rows[0] ?? { keys: 0, units: 0 }
}

/** Keys of the events of quotas, with what they store, in the order of each quota. */
export async function quotaEvents(
  { db }: Pick<Database, 'db'>,
  subscriptionId: string,
): Promise<readonly string[]> {
  const { rows } = await sql<{ type: string; data: string }>`
    select type, data from billing.deferred_events
    where subscription_id = ${subscriptionId}::uuid and quota is not null
    order by quota, quota_event`.execute(db)
  return rows.map(({ type, data }) => {
    const { quota, limit, used, percent } = JSON.parse(data) as Readonly<Record<string, string>>
    return type === 'UsageLimitReached'
      ? `${quota} ${percent}% ${used}/${limit}`
      : `${quota} reset ${limit}`
  })
}

/**
 * The window of a quota of its own length ends so many milliseconds from now. Nobody counts between
 * the reading of that time and the commit: what is counted later finds the window over.
 */
export function endWindowIn(
  database: Pick<Database, 'transaction'>,
  subscriptionId: string,
  milliseconds: number,
): Promise<void> {
  return database.transaction(async ({ db }) => {
    await lockCountersOf(db, subscriptionId)
    await sql`
      with ending as (
        -- Without microseconds, which no window has: else it is not over by a clock that has none.
        select date_trunc('milliseconds', statement_timestamp())
          + make_interval(secs => ${milliseconds / 1000}) as at
      )
      update billing.usage_counters as counter
      set anchor_at = ending.at - interval '1 day', window_starts_at = ending.at - interval '1 day',
        window_ends_at = ending.at, look_at = ending.at
      from ending where subscription_id = ${subscriptionId}::uuid`.execute(db)
  })
}

/** The paid time of a daily subscription ends now, and with it its window: it is to be renewed. */
export function endPeriod(
  database: Pick<Database, 'transaction'>,
  subscriptionId: string,
): Promise<void> {
  return database.transaction(async ({ db }) => {
    await sql`select from billing.subscriptions where id = ${subscriptionId}::uuid
      for update`.execute(db)
    await lockCountersOf(db, subscriptionId)
    const { rows } = await sql<{ by: string }>`
      select (date_trunc('milliseconds', statement_timestamp()) - paid_until)::text as by
      from billing.subscriptions where id = ${subscriptionId}::uuid`.execute(db)
    const by = sql`${rows[0]?.by}::interval`
    await sql`update billing.subscriptions set anchor_at = anchor_at + ${by},
        paid_until = paid_until + ${by}, next_action_at = paid_until + ${by}
      where id = ${subscriptionId}::uuid`.execute(db)
    await sql`update billing.subscription_periods set starts_at = starts_at + ${by},
        ends_at = ends_at + ${by}, nominal_starts_at = nominal_starts_at + ${by}
      where subscription_id = ${subscriptionId}::uuid`.execute(db)
    await sql`update billing.usage_counters set window_starts_at = window_starts_at + ${by},
        window_ends_at = window_ends_at + ${by}, look_at = window_ends_at + ${by}
      where subscription_id = ${subscriptionId}::uuid`.execute(db)
  })
}
