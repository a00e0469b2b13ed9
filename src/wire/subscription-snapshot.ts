import {
  snapshotFields,
  type Period,
  type PeriodJson,
  type SubscriptionSnapshot,
  type SubscriptionSnapshotJson,
} from '../events/subscription-snapshot.ts'
import { valuesOf, viewOf } from '../kernel/noun.ts'
import { withJson } from '../kernel/with-json.ts'
import { carriedFields as periodFields, type SubscriptionPeriod } from '../subscriptions/period.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
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
export const periodSchema = schemaOf(periodFields)
export const periodView: (period: Period) => PeriodJson = viewOf(periodFields)

/** A period as events carry it. */
export function eventPeriodOf(period: SubscriptionPeriod): Period {
  return withJson(valuesOf(periodFields, period), periodView)
}
