import { sql, type Kysely, type Selectable } from 'kysely'
import type { Tables, WebhookCallsTable } from './tables.ts'

/**
 * Notes on a call what was claimed for it after it had ended; in the form of `finishCalls`. Nothing
 * where the call has been pruned.
 */
export async function addClaim(db: Kysely<Tables>, call: string, dedupKey: string): Promise<void> {
  await sql`
    update billing.webhook_calls set dedup_claims = dedup_claims || ${JSON.stringify([dedupKey])}::jsonb
    where id = ${call}::uuid`.execute(db)
}

/** Keys of the events that a call claimed, in any of its runs. */
export function claimsOf({
  dedup_claims: claims,
}: Pick<Selectable<WebhookCallsTable>, 'dedup_claims'>): readonly string[] {
  return [...new Set(JSON.parse(claims) as readonly string[])].toSorted()
}
