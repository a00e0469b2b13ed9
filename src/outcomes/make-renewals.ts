import type { Kysely } from 'kysely'
import { insertRenewal, readStatuses } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import type { Money } from '../kernel/money.ts'
import type { Payment } from '../payments/payment.ts'
import { accountMismatch } from '../payments/transition.ts'
import { claimedBy, ignoredResult, type Applied, type ApplyContext, type Entry } from './applied.ts'
import {
  findFirstPayment,
  findNamed,
  isSameMoney,
  type FirstPayment,
  type RenewalOutcome,
} from './find-first-payment.ts'
import { renewalRow } from './further-row.ts'
import { paidKey } from './waiting-calls.ts'

/** What is known of charges that renew other payments. */
export interface Renewals {
  /** The payments of renewals that had none. */
  readonly ids: ReadonlyMap<Entry, string>
  /** Those whose payment could not be made. */
  readonly applied: ReadonlyMap<Entry, Applied>
  /** What each of the others renews. */
  readonly firsts: ReadonlyMap<Entry<RenewalOutcome>, FirstPayment>
}

type RenewalContext = Pick<ApplyContext, 'newId' | 'gateways'>

/**
 * Makes the payments of further charges: providers renew subscriptions on their own, so these
 * payments were never created. Each has the payable of the first payment and the provider's id of
 * this charge, by which every later report finds it (`known`).
 */
export async function makeRenewals(
  db: Kysely<Tables>,
  entries: readonly Entry<RenewalOutcome>[],
  { known, ...making }: RenewalContext & { readonly known: ReadonlySet<Entry> },
): Promise<Renewals> {
  const ids = new Map<Entry, string>()
  const applied = new Map<Entry, Applied>()
  const firsts = new Map<Entry<RenewalOutcome>, FirstPayment>()
  for (const entry of entries.toSorted(byReference)) {
    const found = await findFirstPayment(db, entry)
    if ('first' in found) firsts.set(entry, found)
    if (known.has(entry)) continue
    const made = 'first' in found ? await makeRenewal(db, entry, { ...found, ...making }) : found
    if (typeof made === 'string') ids.set(entry, made)
    else applied.set(entry, refused(entry, made))
  }
  return { ids, applied, firsts }
}

/** Always in the same order, so that two transactions never wait for each other's new rows. */
function byReference(a: Entry<RenewalOutcome>, b: Entry<RenewalOutcome>): number {
  return JSON.stringify(a.outcome.payment) < JSON.stringify(b.outcome.payment) ? -1 : 1
}

/** Throws if the provider knows more and could not be asked: the call is retried. */
function refused({ outcome: { unanswered } }: Entry<RenewalOutcome>, applied: Applied): Applied {
  if (unanswered !== undefined && applied.payment === undefined) throw unanswered
  return applied
}

type ProviderIds = Pick<Payment, 'checkoutReference' | 'providerReference'>

/** The id of the payment. */
async function makeRenewal(
  db: Kysely<Tables>,
  entry: Entry<RenewalOutcome>,
  { first, newId, gateways }: FirstPayment & RenewalContext,
): Promise<string | Applied> {
  const { report, outcome } = entry
  const { amount, currency, live, payment: reference } = outcome
  const ignoring = { type: 'payment', review: outcome.status === 'paid', payment: first } as const
  const reason = accountMismatch(first, report.gateway, outcome)
  if (reason !== undefined) return ignoredResult({ ...ignoring, reason })
  if (amount === undefined || currency === undefined || 'id' in reference) {
    return ignoredResult({ ...ignoring, reason: 'amount_mismatch' })
  }
  const isPolled = gateways.find(report.gateway)?.gateway.pollsRenewals === true
  // The app's own gateway may be JavaScript: its reference may hold fields of a row, such as a status.
  const { checkoutReference = null, providerReference = null }: Partial<ProviderIds> = reference
  const own = { id: newId(), amount, currency, live: first.live ?? live ?? null }
  const row = renewalRow(first, isPolled, { ...own, checkoutReference, providerReference })
  await insertRenewal(db, row)
  // Another report of the same charge may have come first.
  const made = await findNamed(db, entry, reference)
  if (made === undefined) throw new Error(`renewal of ${first.id} was not written`)
  return made.id
}

/**
 * Payments from before their subscription was stored, by id. It is stored from now on, so that
 * later renewals need no claim.
 */
export function subscriptionsToKeep({ firsts }: Renewals): ReadonlyMap<string, string> {
  const kept = new Map<string, string>()
  for (const [{ outcome }, { first, named }] of firsts) {
    if (named !== 'claimed' || first.status !== 'paid') continue
    const { subscriptionReference } = outcome
    if (subscriptionReference !== undefined) kept.set(first.id, subscriptionReference)
  }
  return kept
}

/** What became of renewals, and what each should have cost. */
export interface ReviewedRenewals {
  readonly applied: ReadonlyMap<Entry, Applied>
  /** The terms of its subscription; undefined: there are none, so its first payment says it. */
  termsOf(entry: Entry): Money | undefined
}

/**
 * The results, marked for a person where needed. Every report decides this again, because a call
 * that is retried is marked again, and one that came before its first payment was known to be paid
 * is processed again once it is. A provider charges what the merchant has agreed with it, so the
 * money counts; but what it buys is for the listener and a person to decide.
 */
export async function reviewRenewals(
  db: Kysely<Tables>,
  { firsts }: Renewals,
  { applied, termsOf }: ReviewedRenewals,
): Promise<ReadonlyMap<Entry, Applied>> {
  const ids = [...firsts.values()].map(({ first }) => first.id)
  const statuses = await readStatuses(db, [...new Set(ids)])
  const marked = new Map(applied)
  for (const [entry, found] of firsts) {
    const claimed = claimedBy(entry, applied)
    if (claimed === undefined) continue
    const isPaid = statuses.get(found.first.id) === 'paid'
    const terms = termsOf(entry) ?? found.first
    const detail = isPaid ? oddityOf(entry, found, terms) : 'first_payment_unpaid'
    if (detail === undefined) continue
    const { amount, currency } = terms
    const expected = { amount, currency }
    const awaiting = isPaid ? [] : [paidKey(found.first)]
    marked.set(entry, { ...claimed, review: true, detail, expected, awaiting })
  }
  return marked
}

function oddityOf(
  { outcome }: Entry<RenewalOutcome>,
  { named }: FirstPayment,
  terms: Money,
): string | undefined {
  if (outcome.status !== 'paid') return undefined
  if (named === 'contradicted') return 'another_subscription'
  return isSameMoney(terms, outcome) ? undefined : 'renewal_money_differs'
}
