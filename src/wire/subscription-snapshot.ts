import { z } from 'zod'
import type {
  Period,
  PeriodJson,
  SubscriptionSnapshot,
  SubscriptionSnapshotJson,
} from '../events/subscription-snapshot.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import {
  intervalUnits,
  managers,
  subscriptionStatuses,
  type Subscription,
} from '../subscriptions/subscription.ts'
import { amount, id, time } from './fields.ts'
import { withJson } from '../kernel/with-json.ts'

const anyObject = z.record(z.string(), z.unknown())

/** A subscription as its events carry it. */
export const subscriptionSnapshotSchema = z.strictObject({
  id,
  managed_by: z.enum(managers),
  gateway: z.string(),
  provider_reference: z.string().nullable(),
  status: z.enum(subscriptionStatuses),
  access: z.boolean(),
  payable_access: z.boolean(),
  as_of: time,
  payable: z.strictObject({ type: z.string(), id: z.string() }),
  plan: z.string().nullable(),
  every: z.strictObject({ unit: z.enum(intervalUnits), count: z.int() }),
  amount,
  currency: z.string(),
  payment_method_id: id.nullable(),
  customer: anyObject.nullable(),
  metadata: anyObject.nullable(),
  trial_ends_at: time.nullable(),
  paid_until: time.nullable(),
  cancel_at: time.nullable(),
  pause_at: time.nullable(),
  resume_at: time.nullable(),
  ended_at: time.nullable(),
})

export function subscriptionSnapshotView(
  subscription: SubscriptionSnapshot,
): z.output<typeof subscriptionSnapshotSchema> & SubscriptionSnapshotJson {
  return {
    id: subscription.id,
    managed_by: subscription.managedBy,
    gateway: subscription.gateway,
    provider_reference: subscription.providerReference,
    status: subscription.status,
    access: subscription.access,
    payable_access: subscription.payableAccess,
    as_of: subscription.asOf.toISOString(),
    payable: { type: subscription.payable.type, id: subscription.payable.id },
    plan: subscription.plan,
    every: { unit: subscription.every.unit, count: subscription.every.count },
    amount: Number(subscription.amount),
    currency: subscription.currency,
    payment_method_id: subscription.paymentMethodId,
    customer: subscription.customer,
    metadata: subscription.metadata,
    trial_ends_at: subscription.trialEndsAt?.toISOString() ?? null,
    paid_until: subscription.paidUntil?.toISOString() ?? null,
    cancel_at: subscription.cancelAt?.toISOString() ?? null,
    pause_at: subscription.pauseAt?.toISOString() ?? null,
    resume_at: subscription.resumeAt?.toISOString() ?? null,
    ended_at: subscription.endedAt?.toISOString() ?? null,
  }
}

/** A subscription as its events carry it, with the access at that time. */
export function snapshotOf(
  subscription: Subscription,
  standing: Pick<SubscriptionSnapshot, 'access' | 'payableAccess' | 'asOf'>,
): SubscriptionSnapshot {
  const { id, managedBy, gateway, providerReference, status, payable, plan, every } = subscription
  const { amount: price, currency, paymentMethodId, customer, metadata } = subscription
  const { trialEndsAt, paidUntil, cancelAt, pauseAt, resumeAt, endedAt } = subscription
  const what = { id, managedBy, gateway, providerReference, status, ...standing }
  const terms = { payable, plan, every, amount: price, currency, paymentMethodId }
  const times = { trialEndsAt, paidUntil, cancelAt, pauseAt, resumeAt, endedAt }
  return withJson({ ...what, ...terms, customer, metadata, ...times }, subscriptionSnapshotView)
}

/** A period as events carry it. */
export const periodSchema = z.strictObject({
  id,
  number: z.int(),
  starts_at: time,
  ends_at: time,
  amount,
  currency: z.string(),
})

export function periodView(period: Period): z.output<typeof periodSchema> & PeriodJson {
  return {
    id: period.id,
    number: period.number,
    starts_at: period.startsAt.toISOString(),
    ends_at: period.endsAt.toISOString(),
    amount: Number(period.amount),
    currency: period.currency,
  }
}

/** A period as events carry it. */
export function eventPeriodOf(period: SubscriptionPeriod): Period {
  const { id, number, startsAt, endsAt, amount: price, currency } = period
  return withJson({ id, number, startsAt, endsAt, amount: price, currency }, periodView)
}
