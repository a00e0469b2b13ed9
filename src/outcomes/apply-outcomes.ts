import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { assertNever } from '../kernel/errors.ts'
import { isUuid } from '../kernel/uuid.ts'
import {
  saysPaid,
  speaksOfMoney,
  type IgnoredOutcome,
  type Outcome,
  type PaymentOutcome,
  type PaymentReference,
} from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import {
  ignoredResult,
  type Report,
  type Applied,
  type ApplyContext,
  type Entry,
  type PaymentEntry,
} from './applied.ts'
import { applySubscription } from './apply-subscription.ts'
import { applyDispute } from './apply-dispute.ts'
import { applyInvoice, followInvoices } from './apply-invoice.ts'
import { applyPaymentMethod } from './apply-payment-method.ts'
import { applyPayments, reviewLate, requeueReleases } from './apply-payments.ts'
import { applyRefund } from './apply-refund.ts'
import { claimOf, findPayments, isPaymentEntry, type FoundPayments } from './find-payments.ts'
import { followManaged } from './follow-managed.ts'
import { followPeriods } from './follow-periods.ts'
import { withCanonicalIds } from './canonical-ids.ts'
import { findManagedRows, type ManagedRows } from './managed-rows.ts'
import { reviewRenewals } from './make-renewals.ts'
import { refundByRelease, reviewRelease } from './released-money.ts'
import { reviewFlagged } from './review-flagged.ts'
import { awaitingKey } from './waiting-calls.ts'

/** What became of each entry: an event, several, a change, or nothing. */
type Results = Map<Entry, readonly Applied[]>

/**
 * Applies what callbacks say: locks the payments' rows in the order of their ids, decides each
 * outcome by the state table and writes the changes and their history. For payments the number of
 * statements does not grow with the number of outcomes; everything else that callbacks report is
 * rarer and is applied one by one. What a person must look at is written down. Claims and listeners
 * follow in the same transaction. Returns what became of each outcome of each report.
 */
export async function applyOutcomes(
  db: Kysely<Tables>,
  reports: readonly Report[],
  applying: ApplyContext,
): Promise<readonly (readonly Applied[])[]> {
  const entries = reports.map((report) =>
    report.outcomes.map((outcome) => ({ report, outcome: withCanonicalIds(outcome) })),
  )
  const found = await findPayments(db, entries.flat(), applying)
  const before = new Map([...found.payments].map(([id, { status }]) => [id, status]))
  const managed = await findManagedRows(db, { entries: entries.flat(), ...found }, applying)
  const invoices = new Map<string, string>()
  const paying = { ...found, managed, invoices, newId: applying.newId }
  const results: Results = await applyToPayments(db, entries.flat(), paying)
  const alsoLockedIds = managed.ids
  await followPeriods(db, { entries: entries.flat(), before, ...found, alsoLockedIds }, applying)
  await followManaged(db, { entries: entries.flat(), results, managed, ...found }, applying)
  await followInvoices(db, { entries: entries.flat(), invoices, ids: found.ids }, applying.newId)
  for (const entry of entries.flat().filter(isOtherEntry).toSorted(byReference)) {
    const payment = paymentOf(entry, found)
    const other = { payment, managedRow: managed.rowOf(entry), ...applying }
    results.set(entry, await applyOther(db, entry, other))
  }
  const said = entries.map((ofOne) =>
    ofOne.flatMap((entry) =>
      // Stryker disable next-line ArrayDeclaration: each entry has its results
      (results.get(entry) ?? []).map((one) => ({ entry, applied: withStatus(entry, one) })),
    ),
  )
  return reviewFlagged(db, said, applying.newId)
}

/** An outcome of something else: a card, refunds, disputes, or nothing that we handle. */
type OtherEntry = Entry<Exclude<Outcome, PaymentOutcome>>

function isOtherEntry(entry: Entry): entry is OtherEntry {
  return !isPaymentEntry(entry)
}

function paymentOf(entry: Entry, { payments, ids }: FoundPayments): Payment | undefined {
  // Stryker disable next-line StringLiteral: what names no payment finds none, whatever is looked up
  return payments.get(ids.get(entry) ?? '')
}

interface FoundAll extends FoundPayments, Pick<ApplyContext, 'newId'> {
  readonly managed: ManagedRows
  /** Gets the documents of payments that are paid now, by payment. */
  readonly invoices: Map<string, string>
}

/** What is stated of payments, and what follows for their refunds and for a person. */
async function applyToPayments(
  db: Kysely<Tables>,
  entries: readonly Entry[],
  { newId, managed, ...found }: FoundAll,
): Promise<Results> {
  const { payments, invoices, renewals } = found
  const stating = entries.filter(isPaymentEntry)
  const targets = stating.flatMap((entry): readonly PaymentEntry[] => {
    const payment = paymentOf(entry, found)
    return payment === undefined ? [] : [{ entry, payment }]
  })
  const moved = await applyPayments(db, targets, { payments, invoices, newId })
  await requeueReleases(db, targets, payments)
  const marked = await reviewRenewals(db, renewals, {
    applied: await reviewLate(db, targets, moved),
    termsOf: (entry) => managed.rowOf(entry),
  })
  const results: Results = new Map()
  for (const entry of stating) {
    const applied =
      marked.get(entry) ??
      renewals.applied.get(entry) ??
      unknownPayment(entry, entry.outcome.payment)
    const charge = paymentOf(entry, found)
    const result = charge ? reviewRelease(entry, applied, charge) : applied
    const refund = charge && refundByRelease(entry, result, charge)
    const refunds = refund ? await applyRefund(db, { entry: refund, charge }, newId) : []
    results.set(entry, refund && result.kind === 'ignored' ? refunds : [result, ...refunds])
  }
  return results
}

/**
 * What is reported of an unknown payment, with the status that decides whether a person must look.
 */
function withStatus({ outcome }: Entry, applied: Applied): Applied {
  if (applied.kind !== 'ignored' || applied.result.reason !== 'unknown_payment') return applied
  const detail = statusOf(outcome)
  return detail === undefined ? applied : { ...applied, result: { detail, ...applied.result } }
}

function statusOf(outcome: Outcome): string | undefined {
  if (outcome.type === 'payment') {
    const isFree = outcome.status === 'paid' && !saysPaid(outcome)
    return isFree ? undefined : outcome.status
  }
  return outcome.type === 'refund' || outcome.type === 'dispute' ? outcome.status : undefined
}

/** Always in the same order, so that two transactions never wait for each other's saved cards, or documents. */
function byReference(a: Entry, b: Entry): number {
  // Equal ones stay in the order of their callback.
  return orderOf(a) < orderOf(b) ? -1 : 1
}

function orderOf({ report: { gateway }, outcome }: Entry): string {
  const { type } = outcome
  const isNamed = type === 'payment_method' || type === 'subscription' || type === 'invoice'
  return isNamed ? `${gateway}/${outcome.reference}` : ''
}

interface OtherContext extends ApplyContext {
  readonly payment: Payment | undefined
  /** The subscription that it is about. */
  readonly managedRow: Subscription | undefined
}

/** Under the lock of its charge, if it has one; a sum of refunds may lead to several changes. */
async function applyOther(
  db: Kysely<Tables>,
  entry: OtherEntry,
  applying: OtherContext,
): Promise<readonly Applied[]> {
  const { report, outcome } = entry
  const { payment, newId } = applying
  switch (outcome.type) {
    case 'payment_method':
      // Signed by the provider, but it may be about someone else's payment: it waits for ours.
      if (outcome.payment !== undefined && payment === undefined) {
        return [unknownPayment(entry, outcome.payment)]
      }
      return [await applyPaymentMethod(db, { report, outcome }, applying)]
    case 'refund':
      if (payment === undefined) return [unknownPayment(entry, outcome.payment)]
      return applyRefund(db, { entry: { report, outcome }, charge: payment }, newId)
    case 'dispute':
      if (payment === undefined) return [unknownPayment(entry, outcome.payment)]
      return [await applyDispute(db, { entry: { report, outcome }, charge: payment }, newId)]
    case 'subscription':
      return [await applySubscription(db, { report, outcome }, applying)]
    case 'invoice':
      return [await applyInvoice(db, { report, outcome }, applying)]
    case 'ignored':
      return [ignoredReport(outcome, payment)]
    default:
      return assertNever(outcome)
  }
}

function ignoredReport(outcome: IgnoredOutcome, payment: Payment | undefined): Applied {
  const { reason, detail } = outcome
  const isOurs = outcome.payment === undefined || payment !== undefined
  const review = isOurs && speaksOfMoney(outcome)
  return ignoredResult({ type: 'callback', reason, detail, review, payment })
}

function unknownPayment(
  { report: { gateway }, outcome }: Entry,
  payment: PaymentReference,
): Applied {
  const { type } = outcome
  if ('id' in payment && !isUuid(payment.id)) {
    return ignoredResult({ type, reason: 'invalid_reference' })
  }
  const claimed = claimOf(outcome)
  const names = [payment, ...(isUuid(claimed) ? [{ id: claimed }] : [])]
  const awaiting = names.map((name) => awaitingKey(gateway, name))
  return claimed === undefined || isUuid(claimed)
    ? ignoredResult({ type, reason: 'unknown_payment', awaiting })
    : ignoredResult({ type, reason: 'invalid_reference', detail: claimed, awaiting })
}
