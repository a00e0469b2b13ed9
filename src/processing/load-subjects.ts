import type { Kysely } from 'kysely'
import { findDisputes } from '../database/disputes.ts'
import { isChargeable } from '../database/lock-subscriptions.ts'
import { findPaymentMethods } from '../database/payment-methods.ts'
import { findPayments } from '../database/payments.ts'
import { findInvoices } from '../database/read-invoices.ts'
import { findPayablesWithAccess } from '../database/payable-access.ts'
import { findPeriods } from '../database/subscription-periods.ts'
import { findSubscriptions } from '../database/subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import type { SubscriptionSnapshot } from '../events/subscription-snapshot.ts'
import type { Invoice } from '../invoices/invoice.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { Payment } from '../payments/payment.ts'
import { hasAccess } from '../subscriptions/access.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import { isRenewable } from '../subscriptions/standing.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { snapshotOf } from '../wire/subscription-snapshot.ts'
import type { ProcessingContext } from './context.ts'

/** What is needed to load what events carry. */
export type LoadContext = Pick<
  ProcessingContext,
  'gateways' | 'payPageUrl' | 'invoiceUrl' | 'subscriptionTime' | 'production'
>

/** The ids of what an event carries. */
export interface SubjectIds {
  readonly payment?: string | null
  readonly paymentMethod?: string | null
  readonly dispute?: string | null
  readonly subscription?: string | null
  readonly period?: string | null
  readonly invoice?: string | null
}

/** What events are about, as it stands; by id. */
export interface Subjects {
  readonly payments: ReadonlyMap<string, Payment>
  readonly paymentMethods: ReadonlyMap<string, PaymentMethod>
  readonly disputes: ReadonlyMap<string, Dispute>
  readonly subscriptions: ReadonlyMap<string, SubscriptionSnapshot>
  readonly periods: ReadonlyMap<string, SubscriptionPeriod>
  readonly invoices: ReadonlyMap<string, Invoice>
}

/** However many events there are, a query for each kind of subject. Nothing is locked. */
export async function loadSubjects(
  db: Kysely<Tables>,
  needed: readonly SubjectIds[],
  context: LoadContext,
): Promise<Subjects> {
  const idsOf = (kind: keyof SubjectIds, also: readonly (string | null)[] = []) =>
    present([...needed.map((ids) => ids[kind]), ...also])
  const invoices = await findInvoices(db, idsOf('invoice'), context.invoiceUrl)
  const payers = [...invoices.values()].map(({ paymentId }) => paymentId)
  const subscriptionIds = idsOf('subscription')
  // Before they are read: whatever changes later is told by an event with a later time.
  const asOf = subscriptionIds.length === 0 ? undefined : await context.subscriptionTime(db)
  const subscriptions = await findSubscriptions(db, subscriptionIds)
  const cards = [...subscriptions.values()].map(({ paymentMethodId }) => paymentMethodId)
  const paymentMethods = await findPaymentMethods(db, idsOf('paymentMethod', cards))
  return {
    payments: await findPayments(db, idsOf('payment', payers)),
    paymentMethods,
    disputes: await findDisputes(db, idsOf('dispute')),
    subscriptions: asOf
      ? await snapshotsOf(db, { subscriptions, paymentMethods, asOf }, context)
      : new Map(),
    periods: await findPeriods(db, idsOf('period')),
    invoices,
  }
}

/** Each once. */
function present(ids: readonly (string | null | undefined)[]): readonly string[] {
  return [...new Set(ids)].filter((id) => typeof id === 'string')
}

async function snapshotsOf(
  db: Kysely<Tables>,
  found: {
    readonly subscriptions: ReadonlyMap<string, Subscription>
    readonly paymentMethods: ReadonlyMap<string, PaymentMethod>
    readonly asOf: Date
  },
  { gateways, production }: LoadContext,
): Promise<ReadonlyMap<string, SubscriptionSnapshot>> {
  const { asOf: now } = found
  const standing = [...found.subscriptions.values()].map((subscription) => {
    const card = found.paymentMethods.get(subscription.paymentMethodId ?? '')
    const isCardUsable = card?.gateway === subscription.gateway && isChargeable(card, gateways)
    const renewable = isRenewable(subscription, isCardUsable)
    return { subscription, access: hasAccess({ ...subscription, renewable }, now) }
  })
  const counts = ({ subscription, access }: (typeof standing)[number]) =>
    access && (!production || subscription.live !== false)
  const payables = standing.filter((one) => !counts(one)).map((one) => one.subscription.payable)
  const isOpen = await findPayablesWithAccess(db, payables, { gateways, now, test: !production })
  const snapshots = standing.map((one) => {
    const { subscription, access } = one
    const payableAccess = counts(one) || isOpen(subscription.payable)
    return [
      subscription.id,
      snapshotOf(subscription, { access, payableAccess, asOf: now }),
    ] as const
  })
  return new Map(snapshots)
}
