import { sql, type Kysely, type Selectable } from 'kysely'
import { toDispute } from '../database/disputes.ts'
import type { DisputesTable, Tables } from '../database/tables.ts'
import { dedupKey } from '../events/catalogue.ts'
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
  const { dispute, isUnmatched } = await record(db, { entry, charge }, newId)
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
    review: status !== 'won' || isUnmatched,
    ...(isUnmatched && { detail: 'this came back, but another dispute is open' }),
    claim: {
      eventId: newId(),
      dedupKey: dedupKey('PaymentDisputed', { dispute: dispute.id, status }),
      type: 'PaymentDisputed',
      subject: { payment: charge, dispute },
    },
  }
}

interface Recorded {
  readonly dispute: Dispute
  /** It gives back the money of none that is known, and another is open: refunds wait for that one. */
  readonly isUnmatched: boolean
}

/** The dispute as it stands with what is stated now. The charge's lock keeps it so. */
async function record(
  db: Kysely<Tables>,
  stated: ChargeEntry<DisputeOutcome>,
  newId: NewId,
): Promise<Recorded> {
  const { charge, entry } = stated
  const rows = await db
    .selectFrom('billing.disputes')
    .selectAll()
    .where('payment_id', '=', charge.id)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const known = knownOf(rows, entry.outcome)
  const row =
    known === undefined
      ? await insert(db, stated, newId)
      : await writeNews(db, known, entry.outcome)
  const isUnmatched =
    entry.outcome.givesBack === true && isAlone(row) && rows.some(({ status }) => status === 'open')
  return { dispute: toDispute(row), isUnmatched }
}

type DisputeRow = Selectable<DisputesTable>

/**
 * The row of a dispute. What gives its money back may come first: then it has a row of its own until
 * a dispute about the same money takes that over.
 */
function knownOf(rows: readonly DisputeRow[], outcome: DisputeOutcome): DisputeRow | undefined {
  const { reference, givesBack } = outcome
  const isSame = (row: DisputeRow) =>
    row.kind === (outcome.kind ?? null) &&
    row.amount === (outcome.amount ?? null) &&
    row.currency === (outcome.currency ?? null)
  if (givesBack !== true) {
    return (
      rows.find((row) => row.provider_reference === reference) ??
      rows.find((row) => isAlone(row) && isSame(row))
    )
  }
  const isLeft = (row: DisputeRow) => row.reversal_reference === null && isSame(row)
  return (
    rows.find((row) => row.reversal_reference === reference) ??
    rows.find((row) => isLeft(row) && row.status === 'open') ??
    rows.find((row) => isLeft(row) && row.status === 'won')
  )
}

/** It gives back the money of a dispute that is not known. */
function isAlone(row: DisputeRow): boolean {
  return row.provider_reference === row.reversal_reference
}

async function insert(
  db: Kysely<Tables>,
  { entry: { report, outcome }, charge }: ChargeEntry<DisputeOutcome>,
  newId: NewId,
): Promise<DisputeRow> {
  const { status, reference, givesBack, kind = null, amount = null, currency = null } = outcome
  return db
    .insertInto('billing.disputes')
    .values({
      id: newId(),
      payment_id: charge.id,
      gateway: report.gateway,
      provider_reference: reference,
      reversal_reference: givesBack === true ? reference : null,
      kind,
      status,
      by_refund: outcome.byRefund === true,
      amount,
      currency,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

async function writeNews(
  db: Kysely<Tables>,
  known: DisputeRow,
  outcome: DisputeOutcome,
): Promise<DisputeRow> {
  const { status, reference, givesBack, amount = known.amount, currency = known.currency } = outcome
  const named = givesBack === true ? 'reversal_reference' : 'provider_reference'
  const isNews = known.status === 'open' && status !== 'open'
  if (!isNews && known[named] === reference) return known
  const by_refund = outcome.byRefund === true
  const ended = {
    status,
    by_refund,
    amount,
    currency,
    updated_at: sql<Date>`statement_timestamp()`,
  }
  return db
    .updateTable('billing.disputes')
    .set({ [named]: reference, ...(known.status === 'open' && ended) })
    .where('id', '=', known.id)
    .returningAll()
    .executeTakeFirstOrThrow()
}
