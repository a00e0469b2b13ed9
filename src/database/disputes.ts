import type { Kysely, Selectable } from 'kysely'
import type { Dispute } from '../payments/dispute.ts'
import type { DisputesTable, Tables } from './tables.ts'

/** The disputes of a charge, oldest first. */
export async function listDisputes(
  db: Kysely<Tables>,
  paymentId: string,
): Promise<readonly Dispute[]> {
  const rows = await db
    .selectFrom('billing.disputes')
    .selectAll()
    .where('payment_id', '=', paymentId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toDispute)
}

export async function findDispute(db: Kysely<Tables>, id: string): Promise<Dispute | undefined> {
  return (await findDisputes(db, [id])).get(id)
}

/** By id; ids without a dispute are left out. */
export async function findDisputes(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Dispute>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('billing.disputes')
    .selectAll()
    .where('id', 'in', [...ids])
    .execute()
  return new Map(rows.map((row) => [row.id, toDispute(row)]))
}

export function toDispute(row: Selectable<DisputesTable>): Dispute {
  return {
    id: row.id,
    paymentId: row.payment_id,
    gateway: row.gateway,
    providerReference: row.provider_reference,
    status: row.status,
    amount: row.amount,
    currency: row.currency,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
