import type { Kysely } from 'kysely'
import { findPaymentIds } from '../database/find-payment-ids.ts'
import { lockPayments } from '../database/payments.ts'
import {
  findFirstPaymentId,
  keepSubscriptionReference,
} from '../database/subscription-references.ts'
import type { Tables } from '../database/tables.ts'
import { isUuid } from '../kernel/uuid.ts'
import type { Outcome, PaymentOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { ApplyContext, Entry } from './applied.ts'
import type { RenewalOutcome } from './find-first-payment.ts'
import { makeRenewals, subscriptionsToKeep, type Renewals } from './make-renewals.ts'

/** The payments that entries are about. */
export interface FoundPayments {
  /** Locked, by id. */
  readonly payments: ReadonlyMap<string, Payment>
  readonly ids: ReadonlyMap<Entry, string>
  readonly renewals: Renewals
}

/** Finds them, creates those of renewals, and locks them all in the order of their ids. */
export async function findPayments(
  db: Kysely<Tables>,
  entries: readonly Entry[],
  { newId, gateways }: Pick<ApplyContext, 'newId' | 'gateways'>,
): Promise<FoundPayments> {
  const ids = new Map(await idsOf(db, entries))
  for (const [entry, id] of await begunBy(db, entries)) ids.set(entry, id)
  const renewing = entries.filter(isRenewal)
  const known = new Set<Entry>(renewing.filter((entry) => ids.has(entry)))
  const renewals = await makeRenewals(db, renewing, { newId, gateways, known })
  for (const [entry, id] of renewals.ids) ids.set(entry, id)
  const keeping = subscriptionsToKeep(renewals)
  const payments = await lockPayments(db, [...new Set([...ids.values(), ...keeping.keys()])])
  for (const [id, subscription] of keeping) await keepSubscriptionReference(db, id, subscription)
  return { payments, ids, renewals }
}

/** The payments of which a paid report said that they began a subscription: no callback of it says better. */
async function begunBy(
  db: Kysely<Tables>,
  entries: readonly Entry[],
): Promise<readonly (readonly [Entry, string])[]> {
  const found: (readonly [Entry, string])[] = []
  for (const entry of entries) {
    const { report, outcome } = entry
    if (outcome.type !== 'subscription') continue
    const { reference: subscriptionReference, merchantAccount } = outcome
    const { gateway } = report
    const id = await findFirstPaymentId(db, { gateway, subscriptionReference, merchantAccount })
    if (id !== undefined) found.push([entry, id])
  }
  return found
}

/** The payment ids that the outcomes name, if a payment may have them. */
async function idsOf(
  db: Kysely<Tables>,
  entries: readonly Entry[],
): Promise<readonly (readonly [Entry, string])[]> {
  const naming = entries.flatMap((entry) => {
    const reference = entry.outcome.payment
    return reference === undefined ? [] : [{ entry, reference }]
  })
  const found = await findPaymentIds(
    db,
    naming.map(({ entry: { report, outcome }, reference }) => ({
      gateway: report.gateway,
      reference,
      claimed: claimOf(outcome),
      merchantAccount: anyOf(outcome).merchantAccount,
    })),
  )
  return naming.flatMap(({ entry }, index) => {
    const id = found[index]
    return isUuid(id) ? [[entry, id] as const] : []
  })
}

/**
 * The payment's own reference that others may have written; a renewal's claim names the first
 * payment.
 */
export function claimOf(outcome: Outcome): string | undefined {
  const { claimed, renews } = anyOf(outcome)
  return renews === undefined ? claimed?.id : undefined
}

/** What some kinds of outcomes state of a payment and others omit. */
type AnyStated = Pick<Outcome, 'type'> &
  Pick<PaymentOutcome, 'claimed' | 'merchantAccount' | 'renews'>

function anyOf(outcome: AnyStated): AnyStated {
  return outcome
}

function isRenewal(entry: Entry): entry is Entry<RenewalOutcome> {
  return anyOf(entry.outcome).renews !== undefined
}

export function isPaymentEntry(entry: Entry): entry is Entry<PaymentOutcome> {
  return entry.outcome.type === 'payment'
}
