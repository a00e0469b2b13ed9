import { sql, type Kysely, type Selectable } from 'kysely'
import { pollSoon } from '../database/due-payments.ts'
import { refundsOf } from '../database/refunds.ts'
import { insertPayment, toPayment } from '../database/payments.ts'
import type { Tables, PaymentsTable } from '../database/tables.ts'
import { dedupKey } from '../events/catalogue.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import { refundReferenceOf, type RefundOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import { matchRefund, type RefundMatch, type RefundRow } from '../payments/match-refund.ts'
import type { IgnoredReason } from '../payments/reasons.ts'
import { decideRefund } from '../payments/refund-transition.ts'
import { refundMismatch } from '../payments/transition.ts'
import { ignoredResult, type Applied, type ChargeEntry, type Entry } from './applied.ts'
import { refundRow } from './further-row.ts'

type RefundEntry = ChargeEntry<RefundOutcome>

/**
 * Records what is reported of a charge's refunds; the charge itself stays as it is. A running total
 * may stand for several refunds, and each of them is moved. Error: `refund_under_way`.
 */
export async function applyRefund(
  db: Kysely<Tables>,
  reported: RefundEntry,
  newId: NewId,
): Promise<readonly Applied[]> {
  const { outcome } = reported.entry
  const applied: Applied[] = []
  for (;;) {
    const one = await applyNext(db, reported, newId)
    const isNews = one.isNew && 'refundedTotal' in outcome
    // Whatever follows the last news only repeats it.
    if (isNews || applied.length === 0) applied.push(one.applied)
    if (!isNews) return applied
  }
}

interface AppliedRefund {
  readonly applied: Applied
  /** It changed something. */
  readonly isNew: boolean
}

async function applyNext(
  db: Kysely<Tables>,
  { entry, charge }: RefundEntry,
  newId: NewId,
): Promise<AppliedRefund> {
  const { outcome, report } = entry
  const mismatch = refundMismatch(charge, report.gateway, outcome)
  if (mismatch !== undefined) return ignore({ entry, charge }, mismatch)
  const rows = await refundsOf(db, charge.id)
  const match = matchRefund(outcome, charge, rows)
  if (match.kind === 'wait') throw underWay(charge)
  if (match.kind === 'mismatch') return ignore({ entry, charge }, match.reason)
  if (match.kind === 'none') return ignore({ entry, charge }, 'no_outcome', false)
  if (await isTaken(db, { entry, charge })) {
    return ignore({ entry, charge }, 'provider_reference_taken')
  }
  const row =
    match.kind === 'found' ? match.row : await insertRefund(db, charge, { match, newId, outcome })
  const decision = decideRefund(row.refund.status, outcome.status)
  if (decision.kind === 'ignore') {
    return ignore({ entry, charge }, decision.reason, decision.review)
  }
  const refund =
    decision.kind === 'move' || needsReference(row, outcome)
      ? await moveRefund(db, { entry, refund: row.refund, newId })
      : row.refund
  const isNew = decision.kind === 'move' || match.kind === 'new'
  const flag = flagOf({ charge, rows, refund, row })
  return { applied: toApplied(refund, { charge, isNew, flag, newId }), isNew }
}

/** Until it is answered, it is unknown whether a sum counts it: the report is processed again. */
function underWay(charge: Payment): QuittanceError {
  const text = `a refund of payment ${charge.id} is being asked for at this moment`
  return new QuittanceError('refund_under_way', text)
}

/** A row that existed, or has just been written. */
type RecordedRefund = Pick<RefundRow, 'refund' | 'claimed'>

function needsReference({ refund }: RecordedRefund, outcome: RefundOutcome): boolean {
  return refundReferenceOf(outcome) !== null && refund.providerReference === null
}

/** One refund at the provider belongs to one of our charges. */
async function isTaken(db: Kysely<Tables>, { entry, charge }: RefundEntry): Promise<boolean> {
  const { outcome } = entry
  const reference = refundReferenceOf(outcome)
  if (reference === null) return false
  const { rows } = await sql`
    select 1 from billing.payments
    where gateway = ${charge.gateway} and type = 'refund' and parent_id <> ${charge.id}
      and provider_reference = ${reference}
      and coalesce(merchant_account, '') = ${charge.merchantAccount ?? ''}`.execute(db)
  return rows.length > 0
}

async function insertRefund(
  db: Kysely<Tables>,
  charge: Payment,
  {
    match,
    newId,
    outcome,
  }: {
    readonly match: RefundMatch & { kind: 'new' }
    readonly newId: NewId
    readonly outcome: RefundOutcome
  },
): Promise<RecordedRefund> {
  const own = { id: newId(), amount: match.amount, providerReference: match.reference }
  const refund = await insertPayment(db, refundRow(charge, own))
  if (refund === undefined) throw new Error(`a refund of ${charge.id} could not be written`)
  // The callback that reports its end may be lost.
  if (outcome.status === 'pending') await pollSoon(db, refund.id)
  return { refund, claimed: false }
}

interface Recorded {
  readonly charge: Payment
  readonly rows: readonly RefundRow[]
  /** Before the change. */
  readonly row: RecordedRefund
  /** After the change. */
  readonly refund: Payment
}

/**
 * What a person should look at: more was returned than was charged, money was returned for a
 * payment that is not known to be paid, or it came back after its event.
 */
function flagOf({ charge, rows, row, refund }: Recorded): string | undefined {
  if (isOver(charge, rows, refund)) return 'over_refund'
  if (refund.status === 'paid' && charge.status !== 'paid') return 'refund_of_unpaid'
  const wasPaid = row.claimed || row.refund.status === 'paid'
  return refund.status === 'failed' && wasPaid ? 'refund_returned' : undefined
}

/** More is being returned than was charged: recorded as reported, and shown to a person. */
function isOver(charge: Payment, rows: readonly RefundRow[], current: Payment): boolean {
  const others = rows.map(({ refund }) => refund).filter(({ id }) => id !== current.id)
  const standing = [...others, current].filter(stands)
  return standing.reduce((sum, { amount }) => sum + amount, 0n) > charge.amount
}

function stands({ status }: Payment): boolean {
  return status === 'paid' || status === 'pending'
}

function toApplied(
  refund: Payment,
  about: {
    readonly charge: Payment
    readonly isNew: boolean
    readonly flag: string | undefined
    readonly newId: NewId
  },
): Applied {
  const { charge, isNew, flag, newId } = about
  const type = `refund:${refund.status}`
  const flagged = { payment: charge, review: flag !== undefined }
  const detail = flag === undefined ? {} : { detail: flag }
  if (refund.status !== 'paid') {
    const result = isNew ? 'applied' : 'duplicate'
    return { kind: 'recorded', ...flagged, result: { result, type, ...detail } }
  }
  const claim = {
    eventId: newId(),
    dedupKey: dedupKey('PaymentRefunded', { refund: refund.id }),
    type: 'PaymentRefunded',
    subject: { payment: refund },
  } as const
  return { kind: 'claim', type, claim, ...flagged, ...detail }
}

function ignore(
  { entry, charge }: RefundEntry,
  reason: IgnoredReason,
  review = entry.outcome.status === 'paid',
): AppliedRefund {
  const applied = ignoredResult({ type: 'refund', reason, review, payment: charge })
  return { applied, isNew: false }
}

/**
 * Gives a refund's row the reported status and the provider's id, and writes its history. The rules
 * of the state table are repeated in SQL.
 */
export async function moveRefund(
  db: Kysely<Tables>,
  moved: {
    readonly entry: Entry<RefundOutcome>
    readonly refund: Payment
    readonly newId: NewId
  },
): Promise<Payment> {
  const { entry, refund, newId } = moved
  const { outcome, report } = entry
  const reference = refundReferenceOf(outcome)
  const isMoved = outcome.status !== refund.status
  const { rows } = await sql<Selectable<PaymentsTable>>`
    with moved as (
      update billing.payments
      set status = ${outcome.status}, updated_at = statement_timestamp(),
        provider_reference = coalesce(provider_reference, ${reference})
      where id = ${refund.id} and type = 'refund' and status = ${refund.status} and (
        status = 'pending' or status = ${outcome.status}
        or (status = 'paid' and ${outcome.status} = 'failed'))
      returning *
    ), history as (
      insert into billing.payment_transitions
        (id, payment_id, payment_type, from_status, to_status, cause, webhook_call_id)
      select ${newId()}::uuid, ${refund.id}::uuid, 'refund', ${refund.status}, ${outcome.status},
        ${report.cause}, ${report.callId}::uuid
      where ${isMoved}
    )
    select * from moved`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error(`refund ${refund.id} refused to become ${outcome.status}`)
  return toPayment(row)
}
