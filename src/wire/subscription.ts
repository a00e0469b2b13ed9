import { z } from 'zod'
import type { Payment } from '../payments/payment.ts'
import { hasAccess } from '../subscriptions/access.ts'
import {
  endReasons,
  intervalUnits,
  managers,
  subscriptionStatuses,
  type Interval,
  type Subscription,
  type Terms,
} from '../subscriptions/subscription.ts'
import { amount, id, time } from './fields.ts'
import { paymentSchema, paymentView } from './payment.ts'
import { withJson } from '../kernel/with-json.ts'

/** What only the decisions about it need. */
type Internal = 'anchorAt' | 'anchorNumber' | 'eventNumber'

/**
 * A subscription as it stands.
 * @see {@link SubscriptionJson}, which it is in JSON and as a prop of a React client component.
 */
export interface ListedSubscription extends Omit<Subscription, Internal> {
  /** Whether it gives access now: `hasAccess` at the time at which it was read. */
  readonly access: boolean
  /**
   * Whether it goes on by itself: its saved card can be charged, as far as we know, or none is needed,
   * because it costs nothing or the provider charges.
   */
  readonly renewable: boolean
  toJSON(): SubscriptionJson
}

/** The length of a period. */
export const intervalSchema = z.strictObject({ unit: z.enum(intervalUnits), count: z.int() })

/** What a subscription costs, and how often. */
export const termsSchema = z.strictObject({
  plan: z.string().nullable(),
  amount,
  currency: z.string(),
  every: intervalSchema,
})

const anyObject = z.record(z.string(), z.unknown())

export const subscriptionSchema = termsSchema.extend({
  id,
  managed_by: z.enum(managers),
  gateway: z.string(),
  merchant_account: z.string().nullable(),
  live: z.boolean().nullable(),
  provider_reference: z.string().nullable(),
  status: z.enum(subscriptionStatuses),
  access: z.boolean(),
  renewable: z.boolean(),
  payable: z.strictObject({ type: z.string(), id: z.string() }),
  description: z.string().nullable(),
  customer: anyObject.nullable(),
  metadata: anyObject.nullable(),
  next_terms: termsSchema.nullable(),
  time_zone: z.string(),
  payment_method_id: id.nullable(),
  grace_access: z.boolean(),
  trial_ends_at: time.nullable(),
  paid_until: time.nullable(),
  cancel_at: time.nullable(),
  pause_at: time.nullable(),
  resume_at: time.nullable(),
  suspended_at: time.nullable(),
  ended_at: time.nullable(),
  end_reason: z.enum(endReasons).nullable(),
  next_action_at: time.nullable(),
  action_error: z.string().nullable(),
  created_at: time,
  updated_at: time,
})

/** The same in JSON. */
export type SubscriptionJson = z.output<typeof subscriptionSchema>

export function subscriptionView(subscription: ListedSubscription): SubscriptionJson {
  return {
    ...termsView(subscription),
    id: subscription.id,
    managed_by: subscription.managedBy,
    gateway: subscription.gateway,
    merchant_account: subscription.merchantAccount,
    live: subscription.live,
    provider_reference: subscription.providerReference,
    status: subscription.status,
    access: subscription.access,
    renewable: subscription.renewable,
    payable: { type: subscription.payable.type, id: subscription.payable.id },
    description: subscription.description,
    customer: subscription.customer,
    metadata: subscription.metadata,
    next_terms: subscription.nextTerms && termsView(subscription.nextTerms),
    time_zone: subscription.timeZone,
    payment_method_id: subscription.paymentMethodId,
    grace_access: subscription.graceAccess,
    trial_ends_at: textOf(subscription.trialEndsAt),
    paid_until: textOf(subscription.paidUntil),
    cancel_at: textOf(subscription.cancelAt),
    pause_at: textOf(subscription.pauseAt),
    resume_at: textOf(subscription.resumeAt),
    suspended_at: textOf(subscription.suspendedAt),
    ended_at: textOf(subscription.endedAt),
    end_reason: subscription.endReason,
    next_action_at: textOf(subscription.nextActionAt),
    action_error: subscription.actionError,
    created_at: subscription.createdAt.toISOString(),
    updated_at: subscription.updatedAt.toISOString(),
  }
}

/** A subscription as it is shown at that time. */
export function listedSubscriptionOf(
  subscription: Subscription,
  { renewable, now }: { readonly renewable: boolean; readonly now: Date },
): ListedSubscription {
  const { anchorAt: _at, anchorNumber: _number, eventNumber: _last, ...shown } = subscription
  const access = hasAccess({ ...subscription, renewable }, now)
  return withJson({ ...shown, access, renewable }, subscriptionView)
}

function termsView({ plan, amount: units, currency, every }: Terms) {
  return { plan, amount: Number(units), currency, every: intervalView(every) }
}

function intervalView({ unit, count }: Interval) {
  return { unit, count }
}

function textOf(at: Date | null): string | null {
  return at?.toISOString() ?? null
}

/** A new subscription, and what was made to pay its first period. */
export interface CreatedSubscription {
  readonly subscription: ListedSubscription
  /**
   * The payment of the first period: `checkoutUrl` is where the payer pays, where no saved card was
   * charged. Null: nothing is to be paid yet.
   */
  readonly payment: Payment | null
}

export const createdSubscriptionSchema = z.strictObject({
  subscription: subscriptionSchema,
  payment: paymentSchema.nullable(),
})

export function createdSubscriptionView({
  subscription,
  payment,
}: CreatedSubscription): z.output<typeof createdSubscriptionSchema> {
  return {
    subscription: subscriptionView(subscription),
    payment: payment && paymentView(payment),
  }
}
