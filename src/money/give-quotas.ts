import type { Kysely } from 'kysely'
import { insertQuotaEvents } from '../database/deferred-events.ts'
import type { Tables } from '../database/tables.ts'
import {
  deleteCounters,
  lockCountersOf,
  readWindowFacts,
  upsertCounters,
} from '../database/usage-counters.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Cause } from '../payments/payment.ts'
import { changeQuotas } from '../subscriptions/change-quotas.ts'
import type { QuotaCounter } from '../subscriptions/quota.ts'
import type { Subscription, WantedQuotas } from '../subscriptions/subscription.ts'
import { mostQuotas } from './quota-rules.ts'

/** Quotas to give, and when; none: only windows move. */
export interface GivenQuotas {
  readonly subscription: Pick<Subscription, 'id' | 'timeZone'>
  readonly wanted: WantedQuotas
  readonly now: Date
}

/** What their events are written with. */
export interface GivingOrigin {
  readonly cause: Cause
  readonly newId: NewId
  readonly queue: string
}

/**
 * Gives a subscription its quotas, and moves those windows whose period has just been moved. Its row
 * is locked, or new, and written; no listener runs in this transaction, because recording waits for
 * the counters. Returns whether events were written. Error: `subscription_invalid`, if it would have
 * too many.
 */
export async function giveQuotas(
  db: Kysely<Tables>,
  { subscription, wanted, now }: GivenQuotas,
  { cause, newId, queue }: GivingOrigin,
): Promise<boolean> {
  const { id } = subscription
  const known = await lockCountersOf(db, id)
  const facts = (await readWindowFacts(db, [id], now)).get(id)
  if (facts === undefined) throw new Error(`subscription ${id} is not written`)
  // What comes with a plan is bounded by it, and must not keep its period from going on.
  if (cause === 'operator') refuseTooMany(known, wanted)
  const change = changeQuotas(known, wanted, { ...facts, subscription, now })
  await upsertCounters(db, change.counters)
  await deleteCounters(db, id, change.removed)
  await insertQuotaEvents(db, change.events, { cause, queue, newId })
  return change.events.length > 0
}

/** One that has them already may move its windows, and give some back. */
function refuseTooMany(known: readonly QuotaCounter[], wanted: WantedQuotas): void {
  const names = new Set(known.map(({ quota }) => quota))
  const before = names.size
  for (const [quota, terms] of Object.entries(wanted)) {
    if (terms === null) names.delete(quota)
    else names.add(quota)
  }
  if (names.size <= Math.max(before, mostQuotas)) return
  const text = `a subscription has at most ${mostQuotas} quotas: take some away, with null`
  throw new QuittanceError('subscription_invalid', text)
}
