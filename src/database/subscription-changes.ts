import { sql, type Kysely } from 'kysely'
import { draftInvoice, isIssuing } from '../invoices/draft-invoice.ts'
import type { InvoicePolicy } from '../invoices/invoice.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Cause, Payment } from '../payments/payment.ts'
import type { SubscriptionChange } from '../subscriptions/change.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { insertSubscriptionEvents } from './deferred-events.ts'
import { insertInvoice, markInvoicesOfPeriods } from './invoices.ts'
import { named } from './named-statements.ts'
import { openReviews } from './reviews.ts'
import { insertPayment, type NewPayment } from './payments.ts'
import { outOfDate, upsertPeriod } from './subscription-periods.ts'
import { writeTerms } from './subscriptions.ts'
import type { Tables } from './tables.ts'

export interface Creation {
  /** Null: nobody has called for it. */
  readonly content: string | null
  readonly writtenBy: string | null
  /** Of one that its provider began: what says its terms (`ManagedFacts`). */
  readonly termsBy?: 'payment' | 'provider'
}

/** How a change is written. */
export interface ChangeOrigin {
  readonly newId: NewId
  /** What led to it. */
  readonly cause: Cause
  readonly callId: string | null
  /** The queue whose workers run the queued listeners of its events. */
  readonly queue: string
  /** For a new subscription: what its caller gave, and what the call recognises its row by. */
  readonly creation?: Creation
  /** The row of the change's payment, and what the call recognises it by. */
  readonly payment?: { readonly row: NewPayment; readonly writtenBy: string }
  /**
   * Documents of open periods are issued. Left out where listeners run in the transaction: then no
   * period is opened, and those who number would wait for them.
   */
  readonly invoicing?: InvoicePolicy
}

/**
 * Writes everything that one decision changes: the only writer of subscriptions and their periods.
 * The subscription's row is locked, or new. Returns the payment, which its writer must now hand
 * over. Throws if somebody else has that payment, or another that is live: nothing may be written
 * then, and the transaction has to end.
 */
export async function writeChange(
  db: Kysely<Tables>,
  change: SubscriptionChange,
  writing: ChangeOrigin,
): Promise<Payment | undefined> {
  if ((change.payment === null) !== (writing.payment === undefined)) {
    throw new Error('a change and its row disagree about a payment')
  }
  const { subscription } = change
  if (writing.creation === undefined) await updateSubscription(db, subscription)
  else await insertSubscription(db, subscription, writing.creation)
  // Only one period may be open at a time: what closes comes first.
  const isOpen = (period: SubscriptionPeriod) => Number(period.state === 'open')
  const invoiced = new Set<string>()
  for (const period of change.periods.toSorted((a, b) => isOpen(a) - isOpen(b))) {
    const { hasInvoice } = await upsertPeriod(db, period)
    if (hasInvoice) invoiced.add(period.id)
  }
  await insertTransition(db, change, writing)
  const origin = { ...writing, subscriptionId: subscription.id }
  await insertSubscriptionEvents(db, change.events, origin)
  await writeReviews(db, change, writing)
  const payment = writing.payment && (await insertOnce(db, writing.payment))
  await writeInvoices(db, { ...change, invoiced }, writing)
  return payment
}

/** Paid and void with their periods, and issued with them: last, for others wait for the number. */
async function writeInvoices(
  db: Kysely<Tables>,
  {
    subscription,
    periods,
    invoiced,
  }: SubscriptionChange & { readonly invoiced: ReadonlySet<string> },
  origin: ChangeOrigin,
): Promise<void> {
  const now = subscription.updatedAt
  const withInvoices = periods.filter(({ id }) => invoiced.has(id))
  await markInvoicesOfPeriods(db, withInvoices, { now, origin })
  const { invoicing } = origin
  if (!isIssuing(invoicing) || subscription.managedBy !== 'local') return
  const { id: subscriptionId, gateway, merchantAccount, payable, customer, live } = subscription
  for (const period of periods) {
    const isOwed = period.state === 'open' && period.amount > 0n
    if (!isOwed || invoiced.has(period.id)) continue
    const description = subscription.description ?? subscription.plan
    const charged = { ...period, description, payable, customer, live }
    const draft = draftInvoice(charged, {}, { invoicing, now })
    await insertInvoice(db, draft, {
      id: origin.newId(),
      gateway,
      merchantAccount,
      subscriptionId,
      periodId: period.id,
      paymentId: null,
      paidAt: null,
      origin,
    })
  }
}

async function insertOnce(
  db: Kysely<Tables>,
  { row, writtenBy }: NonNullable<ChangeOrigin['payment']>,
): Promise<Payment> {
  const payment = await insertPayment(db, row, writtenBy)
  if (payment !== undefined) return payment
  throw new QuittanceError('payment_exists', `payment ${row.id} of a period exists already`)
}

async function writeReviews(
  db: Kysely<Tables>,
  { subscription, reviews }: SubscriptionChange,
  { newId, callId }: ChangeOrigin,
): Promise<void> {
  const { id, gateway } = subscription
  const findings = reviews.map((review) => ({ ...review, gateway, subscriptionId: id, callId }))
  if (findings.length > 0) await openReviews(db, findings, newId)
}

/** What may change; the rest is as it was made. */
function changeable(subscription: Subscription) {
  return {
    live: subscription.live,
    status: subscription.status,
    plan: subscription.plan,
    description: subscription.description,
    customer: subscription.customer && JSON.stringify(subscription.customer),
    metadata: subscription.metadata && JSON.stringify(subscription.metadata),
    amount: subscription.amount,
    currency: subscription.currency,
    every_unit: subscription.every.unit,
    every_count: subscription.every.count,
    next_terms: subscription.nextTerms && writeTerms(subscription.nextTerms),
    due_quotas: subscription.dueQuotas && writeTerms(subscription.dueQuotas),
    anchor_at: subscription.anchorAt,
    anchor_number: subscription.anchorNumber,
    payment_method_id: subscription.paymentMethodId,
    trial_ends_at: subscription.trialEndsAt,
    paid_until: subscription.paidUntil,
    cancel_at: subscription.cancelAt,
    pause_at: subscription.pauseAt,
    resume_at: subscription.resumeAt,
    suspended_at: subscription.suspendedAt,
    ended_at: subscription.endedAt,
    end_reason: subscription.endReason,
    event_number: subscription.eventNumber,
    next_action_at: subscription.nextActionAt,
    action_error: subscription.actionError,
    updated_at: subscription.updatedAt,
  }
}

/**
 * The change of one that we charge ends its lease: what the holder has planned is out of date. A sync
 * goes on: its own charges change the subscription, and it decides by what it then finds.
 */
const leaseAfterChange = {
  lease_token: sql<string | null>`case when managed_by = 'provider' then lease_token end`,
  lease_until: sql<Date | null>`case when managed_by = 'provider' then lease_until end`,
}

/** What never goes back, repeated in SQL: a decision about a state of the past writes nothing. */
async function updateSubscription(db: Kysely<Tables>, subscription: Subscription): Promise<void> {
  const { id, endedAt, paidUntil, eventNumber } = subscription
  const update = db
    .updateTable('billing.subscriptions')
    .set({ ...changeable(subscription), ...leaseAfterChange })
    .where('id', '=', id)
    .where(sql<boolean>`(ended_at is null or ended_at = ${endedAt}::timestamptz)`)
    .where(sql<boolean>`(paid_until is null or paid_until <= ${paidUntil}::timestamptz)`)
    .where('event_number', '<=', eventNumber)
    .returning('id')
  const { rows } = await sql`${named('update-subscription')}${update}`.execute(db)
  if (rows.length === 0) throw outOfDate(`subscription ${id}`)
}

async function insertSubscription(
  db: Kysely<Tables>,
  subscription: Subscription,
  creation: Creation,
): Promise<void> {
  await insertionOf(db, subscription, creation).execute()
}

function insertionOf(
  db: Kysely<Tables>,
  subscription: Subscription,
  { content, writtenBy, termsBy }: Creation,
) {
  return db.insertInto('billing.subscriptions').values({
    ...changeable(subscription),
    id: subscription.id,
    managed_by: subscription.managedBy,
    gateway: subscription.gateway,
    merchant_account: subscription.merchantAccount,
    provider_reference: subscription.providerReference,
    payable_type: subscription.payable.type,
    payable_id: subscription.payable.id,
    time_zone: subscription.timeZone,
    grace_access: subscription.graceAccess,
    created_at: subscription.createdAt,
    content,
    written_by: writtenBy,
    terms_by: termsBy ?? null,
  })
}

/**
 * The row of a subscription that its provider has begun, and its history; its id. Undefined: another
 * transaction has made it.
 */
export async function insertManaged(
  db: Kysely<Tables>,
  subscription: Subscription,
  { termsBy, transitionId }: { termsBy: 'payment' | 'provider'; transitionId: string },
): Promise<string | undefined> {
  const creation = { content: null, writtenBy: null, termsBy }
  const row = await insertionOf(db, subscription, creation)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (row === undefined) return undefined
  const transition = { from: null, to: subscription.status, reason: 'created', periodId: null }
  await insertTransition(db, { subscription, transition }, { newId: () => transitionId })
  return row.id
}

async function insertTransition(
  db: Kysely<Tables>,
  { subscription, transition }: Pick<SubscriptionChange, 'subscription' | 'transition'>,
  { newId }: Pick<ChangeOrigin, 'newId'>,
): Promise<void> {
  if (transition === null) return
  await db
    .insertInto('billing.subscription_transitions')
    .values({
      id: newId(),
      subscription_id: subscription.id,
      from_status: transition.from,
      to_status: transition.to,
      reason: transition.reason,
      period_id: transition.periodId,
      at: subscription.updatedAt,
    })
    .execute()
}
