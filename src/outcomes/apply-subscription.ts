import type { Kysely } from 'kysely'
import { findManaged, linkSubscription, requestSyncs } from '../database/managed-subscriptions.ts'
import { insertManaged } from '../database/subscription-changes.ts'
import {
  findSubscriptionReference,
  keepSubscriptionReference,
} from '../database/subscription-references.ts'
import type { Tables } from '../database/tables.ts'
import type { SubscriptionOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { IgnoredReason } from '../payments/reasons.ts'
import { accountMismatch } from '../payments/transition.ts'
import { beginManaged } from '../subscriptions/begin-subscription.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { ignoredResult, type Applied, type ApplyContext, type Entry } from './applied.ts'
import { canBeAsked } from './managed-rows.ts'
import { awaitingKey } from './waiting-calls.ts'

interface SubscriptionChangeContext extends ApplyContext {
  /** The payment that began it, locked; undefined: none of ours that is known. */
  readonly payment: Payment | undefined
  /** Its row, locked; undefined: there is none yet. */
  readonly managedRow: Subscription | undefined
}

/**
 * A subscription that its provider manages has changed: its provider is asked, at once. If it is new,
 * its row is made for the payment of ours that began it, which is named by what only our server or
 * the provider can have written. One that names no such payment is somebody else's, or comes too
 * early: it waits.
 */
export async function applySubscription(
  db: Kysely<Tables>,
  entry: Entry<SubscriptionOutcome>,
  context: SubscriptionChangeContext,
): Promise<Applied> {
  const { report, outcome } = entry
  const { payment, managedRow } = context
  const ignore = (reason: IgnoredReason, awaiting: readonly string[] = []) =>
    ignoredResult({ type: 'subscription', reason, payment, awaiting })
  if (context.gateways.find(report.gateway)?.gateway.subscriptions === undefined) {
    return ignore('unhandled_event')
  }
  if (managedRow === undefined && payment === undefined) {
    return ignore('unknown_payment', awaitedBy(entry))
  }
  if (managedRow === undefined && !canBeAsked(report.gateway, context))
    return ignore('unhandled_event')
  const reason = await mismatchOf(db, entry, context)
  if (reason !== undefined) return ignore(reason)
  const id = managedRow?.id ?? (payment && (await beginBy(db, { payment, outcome }, context)))
  if (id === undefined) return ignore('unknown_payment', awaitedBy(entry))
  if (managedRow !== undefined && managedRow.providerReference === null) {
    await linkSubscription(db, id, outcome.reference)
    // By which further charges are known, also those that are listed together with the first.
    if (payment !== undefined) await keepSubscriptionReference(db, payment.id, outcome.reference)
  }
  if (managedRow?.status === 'canceled') return ignore('already_settled')
  await requestSyncs(db, [id], await context.subscriptionTime(db))
  return {
    kind: 'recorded',
    result: { result: 'applied', type: 'subscription' },
    payment,
    review: false,
  }
}

function awaitedBy({ report: { gateway }, outcome }: Entry<SubscriptionOutcome>) {
  const { reference: subscriptionReference, payment } = outcome
  const names = [...(payment === undefined ? [] : [payment]), { subscriptionReference }]
  return names.map((name) => awaitingKey(gateway, name))
}

/** Why it is not about that row, or was not begun by that payment. */
async function mismatchOf(
  db: Kysely<Tables>,
  { report: { gateway }, outcome }: Entry<SubscriptionOutcome>,
  { payment, managedRow }: SubscriptionChangeContext,
): Promise<IgnoredReason | undefined> {
  if (managedRow !== undefined) {
    const { providerReference } = managedRow
    const isOther = providerReference !== null && providerReference !== outcome.reference
    const reason = isOther ? 'subscription_mismatch' : rowMismatch(managedRow, gateway, outcome)
    if (reason !== undefined || providerReference !== null) return reason
  }
  // What the payment began is the only one that may be made or linked for it.
  if (payment === undefined) return undefined
  const known = await findSubscriptionReference(db, payment.id)
  if (known !== undefined && known !== outcome.reference) return 'subscription_mismatch'
  return accountMismatch(payment, gateway, outcome)
}

function rowMismatch(
  row: Pick<Subscription, 'gateway' | 'merchantAccount' | 'live'>,
  gateway: string,
  outcome: SubscriptionOutcome,
): IgnoredReason | undefined {
  const { merchantAccount, live } = row
  if (row.gateway !== gateway) return 'gateway_mismatch'
  const { merchantAccount: account = null } = outcome
  if (merchantAccount !== null && merchantAccount !== account) return 'merchant_mismatch'
  const isOtherMode = live !== null && outcome.live !== undefined && live !== outcome.live
  return isOtherMode ? 'mode_mismatch' : undefined
}

/**
 * Makes the row of a subscription that a payment of ours began, the payment being locked; its id. If
 * no paid report has said so, but only the subscription's own name for the payment, it has to be
 * stated with the payment's money before anything follows. From then on it is the only one.
 */
export async function beginBy(
  db: Kysely<Tables>,
  {
    payment,
    outcome: { reference },
  }: {
    readonly payment: Payment
    readonly outcome: Pick<SubscriptionOutcome, 'reference'>
  },
  context: ApplyContext,
): Promise<string | undefined> {
  const { newId, subscriptionPolicy: policy } = context
  const isStated = (await findSubscriptionReference(db, payment.id)) === reference
  if (!isStated) await keepSubscriptionReference(db, payment.id, reference)
  const now = await context.subscriptionTime(db)
  const subscription = beginManaged(
    payment,
    { id: newId(), reference },
    { now, policy, held: false },
  )
  const termsBy = isStated ? 'provider' : 'payment'
  const id = await insertManaged(db, subscription, { termsBy, transitionId: newId() })
  if (id !== undefined) return id
  // Another transaction has made it, with another payment.
  const [made] = await findManaged(db, [{ gateway: payment.gateway, reference }])
  return made?.id
}
