import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { NewId } from '../kernel/ids.ts'
import type { DisputeOutcome } from '../payments/outcome.ts'
import type { DisputeStatus } from '../payments/dispute.ts'
import { accountMismatch } from '../payments/transition.ts'
import { ignoredResult, type Applied, type ChargeEntry } from './applied.ts'

/**
 * Records a dispute beside its charge. The charge stays as it is: a person must see money that a
 * bank takes back. A dispute that is over stays as it ended.
 */
export async function applyDispute(
  db: Kysely<Tables>,
  { entry, charge }: ChargeEntry<DisputeOutcome>,
  newId: NewId,
): Promise<Applied> {
  const { report, outcome } = entry
  const reason = accountMismatch(charge, report.gateway, outcome)
  if (reason !== undefined) {
    return ignoredResult({ type: 'dispute', reason, review: true, payment: charge })
  }
  const { status, reference } = outcome
  const known = await findStatus(db, charge.id, reference)
  if (known !== undefined && known !== 'open' && known !== status) {
    const late = { type: 'dispute', reason: 'already_settled', payment: charge } as const
    // Late news changes nothing, but a person must see money that is lost after all.
    return ignoredResult({ ...late, review: status === 'lost' })
  }
  if (known !== status) await write(db, { entry, charge }, newId)
  return {
    kind: 'recorded',
    payment: charge,
    // Also the second time: the call that recorded it may be processed again, and keeps its flag.
    review: status !== 'won',
    result: { result: known === status ? 'duplicate' : 'applied', type: `dispute:${status}` },
  }
}

/** Undefined if the dispute is not known. The charge's lock keeps the status as it is. */
async function findStatus(
  db: Kysely<Tables>,
  chargeId: string,
  reference: string,
): Promise<DisputeStatus | undefined> {
  const row = await db
    .selectFrom('billing.disputes')
    .select('status')
    .where('payment_id', '=', chargeId)
    .where('provider_reference', '=', reference)
    .executeTakeFirst()
  return row?.status
}

async function write(
  db: Kysely<Tables>,
  { entry: { report, outcome }, charge }: ChargeEntry<DisputeOutcome>,
  newId: NewId,
): Promise<void> {
  const { status, reference, amount = null, currency = null } = outcome
  await sql`
    insert into billing.disputes as known
      (id, payment_id, gateway, provider_reference, status, amount, currency)
    values (${newId()}::uuid, ${charge.id}::uuid, ${report.gateway}, ${reference}, ${status},
      ${amount}, ${currency})
    on conflict (payment_id, provider_reference) do update
      set status = excluded.status, updated_at = statement_timestamp(),
        amount = coalesce(excluded.amount, known.amount),
        currency = coalesce(excluded.currency, known.currency)
      where known.status = 'open'`.execute(db)
}
