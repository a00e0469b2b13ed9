import { sql, type Kysely, type Selectable } from 'kysely'
import type { Tables, WebhookCallsTable } from './tables.ts'

/** What the row of a call says of its claims. */
export type ClaimingCall = Pick<
  Selectable<WebhookCallsTable>,
  'id' | 'payment_id' | 'outcome' | 'dedup_claims'
>

/**
 * Keys of the events that calls claimed, by the id of the call. A version without the column
 * finishes calls without writing them: what such a call claimed is looked for among the events of
 * its payment.
 */
export async function readClaims(
  db: Kysely<Tables>,
  calls: readonly ClaimingCall[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const written = new Map(calls.map((call) => [call.id, claimsIn(call)]))
  const silent = calls.filter((call) => isSilent(call, written.get(call.id)))
  const found = await findAmongEvents(db, silent)
  return new Map(calls.map(({ id }) => [id, (found.get(id) ?? written.get(id) ?? []).toSorted()]))
}

function claimsIn({ dedup_claims: claims }: ClaimingCall): readonly string[] {
  return claims === null ? [] : (JSON.parse(claims) as string[])
}

/** It was finished, and may have claimed something nevertheless. */
function isSilent({ outcome, payment_id: payment }: ClaimingCall, written: readonly string[] = []) {
  return written.length === 0 && outcome !== null && payment !== null
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
