import type { Kysely } from 'kysely'
import type { Subscription } from '../subscriptions/subscription.ts'
import { pageLimit } from './page.ts'
import { toSubscription } from './subscriptions.ts'
import type { Tables } from './tables.ts'

/** Those that something is to be done for until then, the earliest first. */
export async function listDueSubscriptions(
  db: Kysely<Tables>,
  query: { readonly until: Date; readonly limit?: number },
): Promise<readonly Subscription[]> {
  const rows = await db
    .selectFrom('billing.subscriptions')
    .selectAll()
    // Both kinds, so that the index of what is due serves.
    .where('managed_by', 'in', ['local', 'provider'])
    .where('next_action_at', '<=', query.until)
    .orderBy('next_action_at')
    .orderBy('id')
    .limit(pageLimit(query))
    .execute()
  return rows.map(toSubscription)
}
