import {
  filledKey,
  following,
  linked,
  orNone,
  subject,
  type EventShape,
  type KeyNames,
  type StoredOf,
} from '../kernel/event-shape.ts'
import * as field from '../kernel/noun.ts'
import { periodNeeds } from './period.ts'
import { quotaName } from './quota.ts'
import { endReasons, pauseReasons, subscriptionStatuses } from './subscription.ts'

const ofSubscription = { subscription: subject } as const
const ofPeriod = { ...ofSubscription, period: linked } as const
const notice = {
  /** Whether it goes on by itself afterwards. */
  renews: field.flag(),
  /** 1: the last notice before the end. */
  notice: field.count({ least: 1 }),
} as const
const ofQuota = {
  ...ofSubscription,
  /** The name of the quota. */
  quota: field.matching(quotaName),
} as const
const firedBy = 'a subscription'

/**
 * The events of subscriptions and their quotas: see `catalogue`, of which these rows are a part. The
 * rules of this folder fire them.
 */
export const subscriptionEvents = {
  /** A subscription began in a trial, or was brought along; a provider's own, in any case. */
  SubscriptionCreated: {
    carries: ofSubscription,
    key: 'subscription:created:<subscription>',
    firedBy,
  },
  /** A period was granted: it is paid, or costs nothing. */
  SubscriptionRenewed: {
    carries: {
      ...ofPeriod,
      /** As it stands when the listener runs; null: the period costs nothing. */
      payment: orNone(linked),
      /** `incomplete` or `trialing` the first time; `past_due` if a charge of the period had failed. */
      previousStatus: field.choice(subscriptionStatuses),
      /** Whole periods that went by, unpaid and not charged, right before this one. */
      skippedPeriods: field.count({ least: 0 }),
    },
    key: 'subscription:renewed:<period>',
    firedBy,
  },
  /** The charge of a period failed; it is tried again, or needs the payer. */
  SubscriptionPaymentFailed: {
    carries: {
      ...ofPeriod,
      /** As it stands when the listener runs; null: there was no card, or the provider charges it. */
      payment: orNone(linked),
      /** Attempts that have failed so far. */
      attempt: field.count({ least: 0 }),
      /** When the card is charged next; null: not again by itself. */
      nextAttemptAt: field.orNull(field.time()),
      needs: field.choice(periodNeeds),
      /** Where the payer can pay the period; null: we do not know our own address. */
      payUrl: following(field.orNull(field.text())),
    },
    key: 'subscription:payment_failed:<payment>',
    firedBy,
  },
  /** A failed charge ended access at once. */
  SubscriptionAccessSuspended: {
    carries: ofPeriod,
    key: 'subscription:suspended:<period>',
    firedBy,
  },
  /** A subscription is over. */
  SubscriptionCancelled: {
    carries: {
      ...ofSubscription,
      previousStatus: field.choice(subscriptionStatuses),
      reason: field.choice(endReasons),
    },
    key: 'subscription:canceled:<subscription>',
    firedBy,
  },
  /** A subscription was paused: nothing is charged until it is resumed. */
  SubscriptionPaused: {
    carries: {
      ...ofSubscription,
      reason: field.choice(pauseReasons),
      resumesAt: field.orNull(field.time()),
    },
    key: 'subscription:paused:<subscription>/<number of the event>',
    firedBy,
  },
  /** A paused subscription goes on. */
  SubscriptionResumed: {
    carries: ofSubscription,
    key: 'subscription:resumed:<subscription>/<number of the event>',
    firedBy,
  },
  /** A trial ends soon. */
  TrialWillEnd: {
    carries: { ...ofSubscription, endsAt: field.time(), ...notice },
    key: 'subscription:trial_will_end:<subscription>/<end in seconds>/<number of the notice>',
    firedBy,
  },
  /** A trial is over. */
  TrialEnded: {
    carries: {
      ...ofSubscription,
      /** Whether it goes on, with its first charge. */
      converts: field.flag(),
    },
    key: 'subscription:trial_ended:<subscription>',
    firedBy,
  },
  /** A paid period ends soon. */
  SubscriptionPeriodEnding: {
    carries: { ...ofPeriod, ...notice },
    keeps: { endsAt: field.time() },
    key: 'subscription:period_ending:<subscription>/<end in seconds>/<number of the notice>',
    firedBy,
  },
  /** A new window of a quota has begun, with nothing used; not with its first one. */
  SubscriptionQuotaReset: {
    carries: {
      ...ofQuota,
      /** What may be used in the new window; null: no limit. */
      limit: field.orNull(field.units()),
      /** In the window before, which is over. */
      used: field.units(),
      /** The new window. */
      windowStartsAt: field.time(),
      windowEndsAt: field.orNull(field.time()),
    },
    key: 'quota:reset:<subscription>/<quota>/<number of the event>',
    firedBy,
  },
  /** So many per cent of a quota are used: once for each of its `percents` in a window. */
  UsageLimitReached: {
    carries: {
      ...ofQuota,
      limit: field.units(),
      /** In this window, by what reached it; `billing.usage.get` says how much it is by now. */
      used: field.units(),
      /** Of the limit; one of the quota's `percents`. */
      percent: field.count(),
    },
    key: 'quota:reached:<subscription>/<quota>/<number of the event>',
    firedBy,
  },
} as const satisfies Readonly<Record<string, EventShape>>

type Rows = typeof subscriptionEvents

export type SubscriptionEventType = keyof Rows

/** What an event of a subscription stores: ids and scalars alone; the rest is read when it fires. */
export type PlannedEvent = {
  [Type in SubscriptionEventType]: { readonly type: Type; readonly data: StoredOf<Rows[Type]> }
}[SubscriptionEventType]

/** The same of a quota. */
export type QuotaEvent = Extract<
  PlannedEvent,
  { readonly type: 'SubscriptionQuotaReset' | 'UsageLimitReached' }
>

/**
 * The key of an event that fires. The number of the event tells events apart that a subscription may
 * fire again and again. A notice fires once for an end: an end that was moved is announced again.
 */
export function keyOfEvent({ type, data }: PlannedEvent, names: KeyNames): string {
  const { periodId, paymentId, notice: noticeNumber, endsAt, quota } = data as Partial<AnyData>
  return filledKey(subscriptionEvents[type].key, {
    period: periodId,
    // A period fails without a payment where there was no card, or where its provider charges it.
    payment: paymentId ?? periodId,
    quota,
    'end in seconds': endsAt && Math.floor(endsAt.getTime() / 1000),
    'number of the notice': noticeNumber,
    ...names,
  })
}

interface AnyData {
  readonly periodId: string
  readonly paymentId: string | null
  readonly notice: number
  readonly endsAt: Date
  readonly quota: string
}
