import type { Kysely } from 'kysely'
import { findPaymentIds } from '../database/find-payment-ids.ts'
import { findPayment } from '../database/payments.ts'
import {
  findFirstPaymentId,
  findSubscriptionReference,
} from '../database/subscription-references.ts'
import type { Tables } from '../database/tables.ts'
import { isUuid } from '../kernel/uuid.ts'
import type { Money } from '../kernel/money.ts'
import {
  saysPaid,
  type ClaimedReference,
  type PaymentOutcome,
  type PaymentReference,
} from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { IgnoredReason } from '../payments/reasons.ts'
import { accountMismatch } from '../payments/transition.ts'
import { ignoredResult, type Applied, type Entry } from './applied.ts'
import { awaitingKey } from './waiting-calls.ts'

/** A further charge of something that another payment began. */
export type RenewalOutcome = PaymentOutcome & Required<Pick<PaymentOutcome, 'renews'>>

/** The payment that a renewal renews. */
export interface FirstPayment {
  readonly first: Payment
  /**
   * - `stated`: by the provider, or by our server;
   * - `contradicted`: stated, but the payment began another subscription;
   * - `claimed`: by something that the payer may have written, and nothing contradicts it.
   */
  readonly named: 'stated' | 'contradicted' | 'claimed'
}

/**
 * Finds the first payment: by the subscription that its paid report named, else by the reference
 * from the provider or our server, else by the one that others may have written.
 */
export async function findFirstPayment(
  db: Kysely<Tables>,
  entry: Entry<RenewalOutcome>,
): Promise<FirstPayment | Applied> {
  const { claimed } = entry.outcome
  const found = (await findSubscribed(db, entry)) ?? (await findStated(db, entry))
  if (found !== undefined) return found
  if (claimed !== undefined) return findClaimed(db, entry, claimed)
  return ignore(entry, 'unknown_payment', { review: false })
}

async function findSubscribed(
  db: Kysely<Tables>,
  { report: { gateway }, outcome }: Entry<RenewalOutcome>,
): Promise<FirstPayment | undefined> {
  const { subscriptionReference, merchantAccount } = outcome
  if (subscriptionReference === undefined) return undefined
  const id = await findFirstPaymentId(db, { gateway, subscriptionReference, merchantAccount })
  const first = id === undefined ? undefined : await findPayment(db, id)
  return first && { first, named: 'stated' }
}

async function findStated(
  db: Kysely<Tables>,
  entry: Entry<RenewalOutcome>,
): Promise<FirstPayment | Applied | undefined> {
  const { renews, subscriptionReference } = entry.outcome
  if (renews === 'subscription') return undefined
  if ('id' in renews && !isUuid(renews.id)) {
    return ignore(entry, 'invalid_reference', { review: false })
  }
  const first = await findNamed(db, entry, renews)
  if (first === undefined) return ignore(entry, 'unknown_payment', { review: false, until: renews })
  const known = await findSubscriptionReference(db, first.id)
  const isOther = subscriptionReference !== undefined && known !== undefined
  // The same one, if it has become known since it was looked for.
  const named = isOther && known !== subscriptionReference ? 'contradicted' : 'stated'
  return { first, named }
}

/** The payment that has this reference. */
export async function findNamed(
  db: Kysely<Tables>,
  { report: { gateway }, outcome: { merchantAccount } }: Entry<RenewalOutcome>,
  reference: PaymentReference,
): Promise<Payment | undefined> {
  const [id] = await findPaymentIds(db, [{ gateway, reference, merchantAccount }])
  return isUuid(id) ? findPayment(db, id) : undefined
}

/**
 * Anyone able to write the claim could name a dearer payment than their own. So it counts only for
 * a charge of the same amount as the first. It never counts for a charge that failed, or if the
 * payment began another subscription.
 */
async function findClaimed(
  db: Kysely<Tables>,
  entry: Entry<RenewalOutcome>,
  { id, by }: ClaimedReference,
): Promise<FirstPayment | Applied> {
  const { report, outcome } = entry
  if (!isUuid(id)) return ignore(entry, 'invalid_reference', { detail: id })
  const first = await findPayment(db, id)
  if (first === undefined) return ignore(entry, 'unknown_payment', { review: false, until: { id } })
  const mismatch = accountMismatch(first, report.gateway, outcome)
  if (mismatch !== undefined) return ignore(entry, mismatch, { first })
  if ((await findSubscriptionReference(db, id)) !== undefined) {
    return ignore(entry, 'subscription_mismatch', { first })
  }
  if (by !== 'payer' || outcome.status !== 'paid')
    return ignore(entry, 'unknown_payment', { first })
  return isSameMoney(first, outcome)
    ? { first, named: 'claimed' }
    : ignore(entry, 'amount_mismatch', { first })
}

/** Whether a renewal takes as much as the first payment did. */
export function isSameMoney(first: Money, { amount, currency }: Partial<Money>): boolean {
  return first.amount === amount && first.currency === currency
}

/** It may still turn out to be one of our subscriptions; then it is processed again. */
function ignore(
  { report: { gateway }, outcome }: Entry<RenewalOutcome>,
  reason: IgnoredReason,
  found: {
    readonly first?: Payment
    readonly detail?: string
    readonly review?: boolean
    /** What does not exist yet. */
    readonly until?: PaymentReference
  },
): Applied {
  const { first, detail, until, review = saysPaid(outcome) } = found
  const { subscriptionReference } = outcome
  const names = [until, subscriptionReference === undefined ? undefined : { subscriptionReference }]
  const awaiting = names.flatMap((name) => (name ? [awaitingKey(gateway, name)] : []))
  return ignoredResult({ type: 'payment', reason, detail, review, payment: first, awaiting })
}
