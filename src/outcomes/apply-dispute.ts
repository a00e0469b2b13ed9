import { sql, type Kysely, type Selectable } from 'kysely'
import { toDispute } from '../database/disputes.ts'
import type { DisputesTable, Tables } from '../database/tables.ts'
import { disputeDedupKey } from '../events/dedup-key.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { DisputeOutcome } from '../payments/outcome.ts'
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
  const { status } = outcome
  const dispute = await record(db, { entry, charge }, newId)
  if (dispute.status !== status) {
    const late = { type: 'dispute', reason: 'already_settled', payment: charge } as const
    // Late news changes nothing, but a person must see money that is lost after all.
    return ignoredResult({ ...late, review: status === 'lost' })
  }
  return {
    kind: 'claim',
    type: `dispute:${status}`,
    payment: charge,
    // Also the second time: the call that recorded it may be processed again, and keeps its flag.
    review: status !== 'won',
    claim: {
      eventId: newId(),
      dedupKey: disputeDedupKey(dispute),
      type: 'PaymentDisputed',
      subject: { payment: charge, dispute },
    },
  }
}

/** The dispute as it stands with what is stated now. The charge's lock keeps it so. */
async function record(
  db: Kysely<Tables>,
  stated: ChargeEntry<DisputeOutcome>,
  newId: NewId,
): Promise<Dispute> {
  const { charge, entry } = stated
  const { reference, status } = entry.outcome
  const known = await db
    .selectFrom('billing.disputes')
    .selectAll()
    .where('payment_id', '=', charge.id)
    .where('provider_reference', '=', reference)
    .executeTakeFirst()
  const isNews = known === undefined || (known.status === 'open' && status !== 'open')
  return toDispute(isNews ? await write(db, stated, newId) : known)
}

async function write(
  db: Kysely<Tables>,
  { entry: { report, outcome }, charge }: ChargeEntry<DisputeOutcome>,
  newId: NewId,
): Promise<Selectable<DisputesTable>> {
  const { status, reference, amount = null, currency = null } = outcome
  const { rows } = await sql<Selectable<DisputesTable>>`
    insert into billing.disputes as known
      (id, payment_id, gateway, provider_reference, status, amount, currency)
    values (${newId()}::uuid, ${charge.id}::uuid, ${report.gateway}, ${reference}, ${status},
      ${amount}, ${currency})
    on conflict (payment_id, provider_reference) do update
      set status = excluded.status, updated_at = statement_timestamp(),
        amount = coalesce(excluded.amount, known.amount),
        currency = coalesce(excluded.currency, known.currency)
    returning *`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error(`dispute ${reference} was not written`)
  return row
}
