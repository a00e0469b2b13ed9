import type { Money } from '../kernel/money.ts'
import type { Interval, WantedQuotas } from './subscription.ts'

/** A template of a subscription: it is copied as one is made, so an edit changes no existing price. */
export interface Plan extends Money {
  readonly every: Interval
  /** 0: no trial. */
  readonly trialDays: number
  /** What a subscription of it may use. */
  readonly quotas?: WantedQuotas | undefined
}
