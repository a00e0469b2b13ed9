import type { UsageInput } from '../usage/usage-input.ts'
import type { QuotaUsage, RecordedUsage } from '../wire/usage.ts'

/** `billing.usage`: what is used of the quotas of subscriptions. */
export interface UsageOperations<Quota extends string = string> {
  /**
   * Counts what was used, each key once, in the window that is now; resolves once it is committed.
   * What is recorded at the same time shares a transaction. With `enforce` it is counted only if it
   * fits: `refused` otherwise. Of a list, at most 1,000, each is counted or refused on its own, and
   * may be of an `unknown_quota`. Errors: usage_invalid, for which nothing is counted, also for a
   * single record of an unknown quota; usage_unavailable, if it is not known to be counted: record it
   * again with the same keys.
   */
  record(
    input: UsageInput<Quota>,
  ): Promise<Exclude<RecordedUsage, { readonly result: 'unknown_quota' }>>
  record(inputs: readonly UsageInput<Quota>[]): Promise<readonly RecordedUsage[]>
  /** Every quota of a subscription, by name; none for an id that no subscription has. */
  get(subscriptionId: string): Promise<readonly QuotaUsage[]>
  /** One of them; undefined if the subscription has no such quota. One look into an index. */
  get(subscriptionId: string, quota: Quota): Promise<QuotaUsage | undefined>
}
