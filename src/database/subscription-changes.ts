import { sql, type Kysely } from 'kysely'
import { draftInvoice, isIssuing } from '../invoices/draft-invoice.ts'
import type { InvoicePolicy } from '../invoices/invoice.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Cause, Payment } from '../payments/payment.ts'
import type { SubscriptionChange } from '../subscriptions/change.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import {
  insertDeferredEvents,
  subscriptionEvents,
  type NewDeferredEvent,
} from './deferred-events.ts'
import { givenRows } from './given-rows.ts'
import { insertInvoice, markInvoicesOfPeriods } from './invoices.ts'
import { named } from './named-statements.ts'
import { openReviews } from './reviews.ts'
import { insertPayments, type WrittenPayment } from './payments.ts'
import { outOfDate, upsertPeriods } from './subscription-periods.ts'
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
  readonly payment?: WrittenPayment
  /**
   * Documents of open periods are issued. Left out where listeners run in the transaction: then no
   * period is opened, and those who number would wait for them.
   */
  readonly invoicing?: InvoicePolicy
}

/** A decision, and how it is written. */
export interface WrittenChange {
  readonly change: SubscriptionChange
  readonly writing: ChangeOrigin
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
  const [payment] = await writeChanges(db, [{ change, writing }])
  return payment
}

/** The same for decisions about several subscriptions; the payment of each. */
export async function writeChanges(
  db: Kysely<Tables>,
  changes: readonly WrittenChange[],
): Promise<readonly (Payment | undefined)[]> {
  const isOdd = changes.some(
    ({ change, writing }) => (change.payment === null) !== (writing.payment === undefined),
  )
  if (isOdd) throw new Error('a change and its row disagree about a payment')
  const known = changes.filter(({ writing }) => writing.creation === undefined)
  await updateSubscriptions(
    db,
    known.map(({ change }) => change.subscription),
  )
  for (const { change, writing } of changes) {
    if (writing.creation === undefined) continue
    await insertionOf(db, change.subscription, writing.creation).execute()
  }
  const invoiced = await upsertPeriods(
    db,
    changes.flatMap(({ change }) => change.periods),
  )
  await insertTransitions(db, changes)
  await insertDeferredEvents(db, changes.flatMap(eventsOf))
  for (const { change, writing } of changes) await writeReviews(db, change, writing)
  const payments = await insertPayments(
    db,
    changes.flatMap(({ writing }) => writing.payment ?? []),
  )
  await writeInvoices(db, changes, invoiced)
  return changes.map(({ writing }) => writing.payment && writtenAmong(payments, writing.payment))
}

function eventsOf({ change, writing }: WrittenChange): readonly NewDeferredEvent[] {
  const { id: subscriptionId } = change.subscription
  return subscriptionEvents(change.events, { ...writing, subscriptionId })
}

/** Paid and void with their periods, and issued with them: last, for others wait for the number. */
async function writeInvoices(
  db: Kysely<Tables>,
  changes: readonly WrittenChange[],
  invoiced: ReadonlySet<string>,
): Promise<void> {
  for (const { change, writing } of changes) {
    const withInvoices = change.periods.filter(({ id }) => invoiced.has(id))
    const now = change.subscription.updatedAt
    await markInvoicesOfPeriods(db, withInvoices, { now, origin: writing })
  }
  const owed = changes.flatMap((one) => owedInvoices(one, invoiced))
  // Always in the same order, so that two transactions never wait for each other's numbers.
  for (const { draft, of } of owed.toSorted((a, b) => (a.draft.series < b.draft.series ? -1 : 1))) {
    await insertInvoice(db, draft, of)
  }
}

/** Of periods that are owed and have none. */
function owedInvoices(
  { change: { subscription, periods }, writing: origin }: WrittenChange,
  invoiced: ReadonlySet<string>,
) {
  const { invoicing, newId } = origin
  if (!isIssuing(invoicing) || subscription.managedBy !== 'local') return []
  const { id: subscriptionId, gateway, merchantAccount, payable, customer, live } = subscription
  const now = subscription.updatedAt
  return periods.flatMap((period) => {
    const isOwed = period.state === 'open' && period.amount > 0n
    if (!isOwed || invoiced.has(period.id)) return []
    const description = subscription.description ?? subscription.plan
    const charged = { ...period, description, payable, customer, live }
    const draft = draftInvoice(charged, {}, { invoicing, now })
    const about = { subscriptionId, periodId: period.id, paymentId: null, paidAt: null }
    return [{ draft, of: { id: newId(), gateway, merchantAccount, ...about, origin } }]
  })
}

function writtenAmong(payments: ReadonlyMap<string, Payment>, { row }: WrittenPayment): Payment {
  const payment = payments.get(row.id)
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

const changeableTypes = {
  live: 'boolean',
  status: 'text',
  plan: 'text',
  description: 'text',
  customer: 'json',
  metadata: 'json',
  amount: 'bigint',
  currency: 'text',
  every_unit: 'text',
  every_count: 'integer',
  next_terms: 'json',
  due_quotas: 'json',
  anchor_at: 'timestamptz',
  anchor_number: 'integer',
  payment_method_id: 'uuid',
  trial_ends_at: 'timestamptz',
  paid_until: 'timestamptz',
  cancel_at: 'timestamptz',
  pause_at: 'timestamptz',
  resume_at: 'timestamptz',
  suspended_at: 'timestamptz',
  ended_at: 'timestamptz',
  end_reason: 'text',
  event_number: 'integer',
  next_action_at: 'timestamptz',
  action_error: 'text',
  updated_at: 'timestamptz',
} as const satisfies Record<keyof ReturnType<typeof changeable>, string>

const changing = sql.raw(
  Object.keys(changeableTypes)
    .map((column) => `${column} = given.${column}`)
    .join(', '),
)

/**
 * The change of one that we charge ends its lease: what the holder has planned is out of date. A sync
 * goes on: its own charges change the subscription, and it decides by what it then finds.
 */
const leaseAfterChange = sql`
  lease_token = case when known.managed_by = 'provider' then known.lease_token end,
  lease_until = case when known.managed_by = 'provider' then known.lease_until end`

/** What never goes back, repeated in SQL: a decision about a state of the past writes nothing. */
async function updateSubscriptions(
  db: Kysely<Tables>,
  subscriptions: readonly Subscription[],
): Promise<void> {
  if (subscriptions.length === 0) return
  const rows = subscriptions.map((one) => ({ ...changeable(one), id: one.id }))
  const { rows: written } = await sql<{ id: string }>`${named('update-subscriptions')}
    update billing.subscriptions as known set ${changing}, ${leaseAfterChange}
    from ${givenRows({ ...changeableTypes, id: 'uuid' }, rows)}
    where known.id = given.id
      and (known.ended_at is null or known.ended_at = given.ended_at)
      and (known.paid_until is null or known.paid_until <= given.paid_until)
      and known.event_number <= given.event_number
    returning known.id`.execute(db)
  const ids = new Set(written.map(({ id }) => id))
  const missing = subscriptions.find(({ id }) => !ids.has(id))
  if (missing !== undefined) throw outOfDate(`subscription ${missing.id}`)
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
  const change = { subscription, transition }
  await insertTransitions(db, [{ change, writing: { newId: () => transitionId } }])
  return row.id
}

interface WrittenTransition {
  readonly change: Pick<SubscriptionChange, 'subscription' | 'transition'>
  readonly writing: Pick<ChangeOrigin, 'newId'>
}

async function insertTransitions(
  db: Kysely<Tables>,
  changes: readonly WrittenTransition[],
): Promise<void> {
  const rows = changes.flatMap(({ change: { subscription, transition }, writing }) =>
    transition === null
      ? []
      : {
          id: writing.newId(),
          subscription_id: subscription.id,
          from_status: transition.from,
          to_status: transition.to,
          reason: transition.reason,
          period_id: transition.periodId,
          at: subscription.updatedAt,
        },
  )
  if (rows.length === 0) return
  await db.insertInto('billing.subscription_transitions').values(rows).execute()
}
