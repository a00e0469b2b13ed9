import type { Kysely } from 'kysely'
import { hasUsableCard } from '../database/lock-subscriptions.ts'
import { findPayment } from '../database/payments.ts'
import { findPeriod } from '../database/subscription-periods.ts'
import { findSubscription } from '../database/subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import type { Period, SubscriptionSnapshot } from '../events/catalogue.ts'
import { assertNever } from '../kernel/errors.ts'
import type { SubscriptionSubject } from '../outcomes/applied.ts'
import type { Payment } from '../payments/payment.ts'
import type { PlannedEvent } from '../subscriptions/change.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import { eventPeriodOf, snapshotOf } from '../wire/subscription-snapshot.ts'
import type { ProcessingContext } from './context.ts'

/** What is needed to load what an event of a subscription carries. */
export type LoadContext = Pick<
  ProcessingContext,
  'gateways' | 'payPageUrl' | 'invoiceUrl' | 'subscriptionTime'
>

export interface SubscriptionEventOf {
  readonly subscriptionId: string
  readonly planned: PlannedEvent
}

/**
 * What the event carries: what it stored, and its subjects as they stand. Nothing is locked, and
 * nobody asks whether it still holds: it did when it was written, with what it says.
 */
export async function loadSubscriptionEvent(
  db: Kysely<Tables>,
  { subscriptionId, planned }: SubscriptionEventOf,
  context: LoadContext,
): Promise<SubscriptionSubject> {
  const subscription = await findSubscription(db, subscriptionId)
  if (subscription === undefined) throw gone('subscription', subscriptionId)
  const isCardUsable = await hasUsableCard(db, subscription, context.gateways)
  const now = await context.subscriptionTime(db)
  const snapshot = snapshotOf(subscription, { isCardUsable, now })
  const period = 'periodId' in planned.data ? await loadPeriod(db, planned.data.periodId) : null
  const paymentId = 'paymentId' in planned.data ? planned.data.paymentId : null
  const payment = paymentId === null ? null : await loadPayment(db, paymentId)
  const url = isPayable(period) ? context.payPageUrl(subscriptionId) : null
  return carriedBy(planned, { snapshot, period, payment, url })
}

/** A page takes money only for what is still owed. */
function isPayable(period: SubscriptionPeriod | null): boolean {
  return period?.state === 'open'
}

interface Loaded {
  readonly snapshot: SubscriptionSnapshot
  readonly period: SubscriptionPeriod | null
  readonly payment: Payment | null
  readonly url: string | null
}

function carriedBy(planned: PlannedEvent, loaded: Loaded): SubscriptionSubject {
  const { snapshot: subscription, payment } = loaded
  const period = () => periodIn(loaded)
  switch (planned.type) {
    case 'SubscriptionRenewed': {
      const { previousStatus, skippedPeriods } = planned.data
      return { subscription, period: period(), payment, previousStatus, skippedPeriods }
    }
    case 'SubscriptionPaymentFailed': {
      const { attempt, nextAttemptAt, needs } = planned.data
      const next = { attempt, nextAttemptAt, needs, payUrl: loaded.url }
      return { subscription, period: period(), payment, ...next }
    }
    case 'SubscriptionAccessSuspended':
      return { subscription, period: period() }
    case 'SubscriptionPeriodEnding': {
      const { renews, notice } = planned.data
      return { subscription, period: period(), renews, notice }
    }
    case 'SubscriptionCreated':
    case 'SubscriptionCancelled':
    case 'SubscriptionPaused':
    case 'SubscriptionResumed':
    case 'TrialWillEnd':
    case 'TrialEnded':
    case 'SubscriptionQuotaReset':
    case 'UsageLimitReached':
      return { subscription, ...planned.data }
    default:
      return assertNever(planned)
  }
}

function periodIn({ period, snapshot }: Loaded): Period {
  if (period === null) throw gone('a period of the subscription', snapshot.id)
  return eventPeriodOf(period)
}

async function loadPeriod(db: Kysely<Tables>, id: string): Promise<SubscriptionPeriod> {
  const period = await findPeriod(db, id)
  if (period === undefined) throw gone('period', id)
  return period
}

async function loadPayment(db: Kysely<Tables>, id: string): Promise<Payment> {
  const payment = await findPayment(db, id)
  if (payment === undefined) throw gone('payment', id)
  return payment
}

/** None of them is ever deleted. */
function gone(what: string, id: string): Error {
  return new Error(`${what} ${id} of an event is gone`)
}
