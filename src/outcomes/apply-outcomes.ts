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
import { claimOf, findPayments, isPaymentEntry } from './find-payments.ts'
import { followManaged } from './follow-managed.ts'
import { followPeriods } from './follow-periods.ts'
import type { Follower, Moved, Results } from './follower.ts'
import { withCanonicalIds } from './canonical-ids.ts'
import { findManagedRows } from './managed-rows.ts'
import { reviewRenewals } from './make-renewals.ts'
import { refundByRelease, reviewRelease } from './released-money.ts'
import { reviewFlagged } from './review-flagged.ts'
import { awaitingKey } from './waiting-calls.ts'

/**
 * Applies what callbacks say: locks the payments' rows in the order of their ids, decides each
 * outcome by the state table and writes the changes and their history. For payments the number of
 * statements does not grow with the number of outcomes. Then the followers write what follows for
 * other nouns; these are rarer and are applied one by one. Claims and listeners come later in the same
 * transaction. Returns what became of each outcome of each report.
 */
export async function applyOutcomes(
  db: Kysely<Tables>,
  reports: readonly Report[],
  applying: ApplyContext,
): Promise<readonly (readonly Applied[])[]> {
  const entries = reports.map((report) =>
    report.outcomes.map((outcome) => ({ report, outcome: withCanonicalIds(outcome) })),
  )
  let moved = await moveStated(db, entries.flat(), applying)
  for (const follow of followers) {
    moved = Object.assign({}, moved, await follow(db, moved, applying))
  }
  const { results } = moved
  // Stryker disable next-line ArrayDeclaration: each entry has its results
  return entries.map((ofOne) => ofOne.flatMap((entry) => results.get(entry) ?? []))
}

/** In the order in which rows are locked: payments, subscriptions, documents, the rest, reviews. */
const followers: readonly Follower[] = [
  followPeriods,
  followManaged,
  followInvoices,
  applyOthers,
  reviewFlagged,
]

/** Finds the payments that the entries are about, and moves those whose status is stated. */
async function moveStated(
  db: Kysely<Tables>,
  entries: readonly Entry[],
  applying: ApplyContext,
): Promise<Moved> {
  const found = await findPayments(db, entries, applying)
  const before = new Map(Array.from(found.payments, ([id, { status }]) => [id, status]))
  const managed = await findManagedRows(db, { entries, ...found }, applying)
  const targets = entries.filter(isPaymentEntry).flatMap((entry): readonly PaymentEntry[] => {
    const payment = paymentOf(entry, found)
    return payment === undefined ? [] : [{ entry, payment }]
  })
  const { applied, invoices, ...now } = await applyPayments(db, targets, applying.newId)
  const payments = new Map([...found.payments, ...now.payments])
  await requeueReleases(db, targets, payments)
  const reviewed = await reviewRenewals(db, found.renewals, {
    applied: await reviewLate(db, targets, applied),
    termsOf: (entry) => managed.rowOf(entry),
  })
  const moved = { ...found, entries, before, managed, payments, invoices }
  return { ...moved, results: await resultsOf(db, { ...moved, applied: reviewed }, applying) }
}

/** An outcome of something else: a card, refunds, disputes, or nothing that we handle. */
type OtherEntry = Entry<Exclude<Outcome, PaymentOutcome>>

function paymentOf(
  entry: Entry,
  { payments, ids }: Pick<Moved, 'payments' | 'ids'>,
): Payment | undefined {
  // Stryker disable next-line StringLiteral: what names no payment finds none, whatever is looked up
  return payments.get(ids.get(entry) ?? '')
}

/** What became of stated payments, and of their refunds where released money means one. */
async function resultsOf(
  db: Kysely<Tables>,
  moved: Omit<Moved, 'results'> & { readonly applied: ReadonlyMap<Entry, Applied> },
  { newId }: ApplyContext,
): Promise<Results> {
  const { entries, applied, renewals } = moved
  const results = new Map<Entry, readonly Applied[]>()
  for (const entry of entries.filter(isPaymentEntry)) {
    const own =
      applied.get(entry) ??
      renewals.applied.get(entry) ??
      unknownPayment(entry, entry.outcome.payment)
    const charge = paymentOf(entry, moved)
    const result = withStatus(entry, charge ? reviewRelease(entry, own, charge) : own)
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

/** Applies what is reported of anything but a payment's own status. */
async function applyOthers(
  db: Kysely<Tables>,
  moved: Moved,
  applying: ApplyContext,
): ReturnType<Follower> {
  const others = moved.entries.filter((entry): entry is OtherEntry => !isPaymentEntry(entry))
  if (others.length === 0) return {}
  const results = new Map(moved.results)
  for (const entry of others.toSorted(byReference)) {
    const payment = paymentOf(entry, moved)
    const other = { payment, managedRow: moved.managed.rowOf(entry), ...applying }
    const applied = await applyOther(db, entry, other)
    results.set(
      entry,
      applied.map((one) => withStatus(entry, one)),
    )
  }
  return { results }
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
