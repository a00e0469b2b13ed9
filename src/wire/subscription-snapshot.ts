import { z } from 'zod'
import {
  snapshotFields,
  type Period,
  type PeriodJson,
  type SubscriptionSnapshot,
  type SubscriptionSnapshotJson,
} from '../events/subscription-snapshot.ts'
import { valuesOf, viewOf } from '../kernel/noun.ts'
import { withJson } from '../kernel/with-json.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { amount, id, time } from './fields.ts'
import { schemaOf } from './noun.ts'

/** A subscription as its events carry it. */
export const subscriptionSnapshotSchema = schemaOf(snapshotFields)
export const subscriptionSnapshotView: (
  subscription: SubscriptionSnapshot,
) => SubscriptionSnapshotJson = viewOf(snapshotFields)

/** A subscription as its events carry it, with the access at that time. */
export function snapshotOf(
  subscription: Subscription,
  standing: Pick<SubscriptionSnapshot, 'access' | 'payableAccess' | 'asOf'>,
): SubscriptionSnapshot {
  const values = valuesOf(snapshotFields, { ...subscription, ...standing })
  return withJson(values, subscriptionSnapshotView)
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
