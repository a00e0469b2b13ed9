import {
  leadDays,
  onUnpaid,
  plansByName,
  retryDays,
  timeZone,
  wholeNumber,
  yesOrNo,
} from './setting-types.ts'
import { setting } from './setting.ts'

const none: readonly string[] = []

/** Of subscriptions that we charge. A trial or a price is of a plan, or of one subscription. */
export const subscriptions = {
  /**
   * Whether access goes on while a declined renewal is tried again; a subscription may say
   * otherwise.
   * @default true
   */
  graceAccess: setting(yesOrNo, { default: true, variables: ['BILLING_GRACE_ACCESS'] }),
  /**
   * Days from the first decline of a renewal to each further attempt. Empty: none is made.
   * @default `[1, 3, 5, 7]`
   */
  retryDays: setting(retryDays, { default: [1, 3, 5, 7], variables: none }),
  /**
   * What becomes of a subscription whose renewal is never paid: `cancel` or `pause`.
   * @default cancel
   */
  onUnpaid: setting(onUnpaid, { default: 'cancel', variables: none }),
  /**
   * Days before the end of a trial at which TrialWillEnd fires. Empty: never.
   * @default `[3]`
   */
  trialNoticeDays: setting(leadDays, { default: [3], variables: none }),
  /**
   * Days before the end of a paid period at which SubscriptionPeriodEnding fires. Empty: never.
   * @default `[3]`
   */
  periodNoticeDays: setting(leadDays, { default: [3], variables: none }),
  /**
   * IANA name of the time zone in whose days and months periods are counted, such as `Europe/Kyiv`;
   * a subscription may say otherwise.
   * @default UTC
   */
  timeZone: setting(timeZone, { default: 'UTC', variables: none }),
  /**
   * How long the first payment of a subscription may take, in hours.
   * @default 24
   */
  incompleteHours: setting(wholeNumber('of hours ', 1, 720), { default: 24, variables: none }),
  /**
   * How many saved cards a process charges at the same time.
   * @default 4
   */
  chargesAtOnce: setting(wholeNumber('of charges ', 1, 64), { default: 4, variables: none }),
}

/**
 * Templates of subscriptions by name: `{ amount: 19900, currency: 'UAH', every: 'month', trial_days:
 * 14, quotas: { api_calls: { limit: 10_000 } } }`. One is copied as a subscription is made: an edit changes no existing price.
 */
export const plans = setting(plansByName, { default: {}, variables: none })

/** Of what subscriptions use: see docs/14-usage.md. */
export const usage = {
  /**
   * Days in which a key counts once; what comes again later counts again.
   * @default 35
   */
  keepKeysDays: setting(wholeNumber('of days ', 1, 3_650), { default: 35, variables: none }),
}
