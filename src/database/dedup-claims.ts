import { sql, type Kysely, type Selectable } from 'kysely'
import type { Tables, WebhookCallsTable } from './tables.ts'

/** What the row of a call says of its claims. */
export type ClaimingCall = Pick<
  Selectable<WebhookCallsTable>,
  'id' | 'payment_id' | 'outcome' | 'dedup_claims'
>

/**
 * Notes on a call what was claimed for it after it had ended; in the form of `finishCalls`. Nothing
 * where the call has been pruned.
 */
export async function addClaim(db: Kysely<Tables>, call: string, dedupKey: string): Promise<void> {
  await sql`
    update billing.webhook_calls set dedup_claims = dedup_claims || ${JSON.stringify([dedupKey])}::jsonb
    where id = ${call}::uuid`.execute(db)
}

/**
 * Keys of the events that calls claimed, by the id of the call. A version without the column
 * finishes calls without writing them, and a call may have run under both: what it claimed is also
 * looked for among the events of its payment.
 */
export async function readClaims(
  db: Kysely<Tables>,
  calls: readonly ClaimingCall[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = await findAmongEvents(db, calls.filter(mayHaveMore))
  const keysOf = (call: ClaimingCall) => new Set([...claimsIn(call), ...(found.get(call.id) ?? [])])
  return new Map(calls.map((call) => [call.id, [...keysOf(call)].toSorted()]))
}

function claimsIn({ dedup_claims: claims }: ClaimingCall): readonly string[] {
  return claims === null ? [] : (JSON.parse(claims) as string[])
}

/** It was finished, and is about a payment. */
function mayHaveMore({ outcome, payment_id: payment }: ClaimingCall): boolean {
  return outcome !== null && payment !== null
}

async function findAmongEvents(
  db: Kysely<Tables>,
  calls: readonly ClaimingCall[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (calls.length === 0) return new Map()
  const payments = calls.map(({ payment_id: payment }) => payment)
  const { rows } = await sql<{ call: string; keys: string[] }>`
    select webhook_call_id as call, array_agg(dedup_key) as keys from billing.events
    where payment_id = any(array(select unnest(${payments}::uuid[]) union
        select id from billing.payments where parent_id = any(${payments}::uuid[])))
      and webhook_call_id = any(${calls.map(({ id }) => id)}::uuid[])
    group by webhook_call_id`.execute(db)
  return new Map(rows.map(({ call, keys }) => [call, keys]))
}
