import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { readCounters } from '../database/usage-counters.ts'
import { readUuid } from '../kernel/uuid.ts'
import type { ProcessingContext } from '../processing/context.ts'
import { inWindowOf, isOver } from '../subscriptions/quota-window.ts'
import { quotaUsageOf, type QuotaUsage } from '../wire/usage.ts'

/**
 * The quotas of a subscription as they are by now, or one of them: also in a window that nobody has
 * counted in yet. Nothing is written.
 */
export async function readUsageOf(
  db: Kysely<Tables>,
  {
    subscriptionId: given,
    quota = null,
  }: { readonly subscriptionId: string; readonly quota?: string | null },
  { subscriptionTime }: Pick<ProcessingContext, 'subscriptionTime'>,
): Promise<readonly QuotaUsage[]> {
  const subscriptionId = readUuid(given)
  if (subscriptionId === undefined) return []
  const now = await subscriptionTime(db)
  const found = await readCounters(db, { subscriptionId, quota }, now)
  return found.map(({ counter, facts }) => quotaUsageOf(inWindowNow(counter, facts, now)))
}

function inWindowNow(...[counter, facts, now]: Parameters<typeof inWindowOf>) {
  return isOver(counter, now) ? inWindowOf(counter, facts, now).counter : counter
}
