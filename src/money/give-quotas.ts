import type { Kysely } from 'kysely'
import { insertQuotaEvents } from '../database/deferred-events.ts'
import type { Tables } from '../database/tables.ts'
import {
  deleteCounters,
  lockCountersOf,
  readWindowFacts,
  upsertCounters,
} from '../database/usage-counters.ts'
import type { NewId } from '../kernel/ids.ts'
import { changeQuotas } from '../subscriptions/change-quotas.ts'
import type { WantedQuotas } from '../subscriptions/quota.ts'
import type { Subscription } from '../subscriptions/subscription.ts'

/** Quotas to give, and when. */
export interface GivenQuotas {
  readonly subscription: Pick<Subscription, 'id' | 'timeZone'>
  readonly wanted: WantedQuotas
  readonly now: Date
}

/**
 * Gives a subscription its quotas, and moves those windows whose period has just been moved. Its row
 * is locked, or new, and written; no listener runs in this transaction, because recording waits for
 * the counters.
 */
export async function giveQuotas(
  db: Kysely<Tables>,
  { subscription, wanted, now }: GivenQuotas,
  { newId, queue }: { readonly newId: NewId; readonly queue: string },
): Promise<void> {
  const { id } = subscription
  const known = await lockCountersOf(db, id)
  const facts = (await readWindowFacts(db, [id], now)).get(id)
  if (facts === undefined) throw new Error(`subscription ${id} is not written`)
  const change = changeQuotas(known, wanted, { ...facts, subscription, now })
  await upsertCounters(db, change.counters)
  await deleteCounters(db, id, change.removed)
  await insertQuotaEvents(db, change.events, { cause: 'operator', queue, newId })
}
