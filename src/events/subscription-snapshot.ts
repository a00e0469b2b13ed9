import type { Money } from '../kernel/money.ts'
import * as field from '../kernel/noun.ts'
import type { JsonValues, Values } from '../kernel/noun.ts'
import type { carriedFields as periodFields } from '../subscriptions/period.ts'
import { carriedFields } from '../subscriptions/subscription.ts'

export const snapshotFields = {
  ...carriedFields,
  /** Whether this one gives access; another one of the same payable may all the same. */
  access: field.flag(),
  /** Whether any subscription of the payable gives access: what to set access by. */
  payableAccess: field.flag(),
  /** When it stood so, by the database's clock: of two events, the later one holds. */
  asOf: field.time(),
}

/** A subscription as it stands when the listener runs. */
export interface SubscriptionSnapshot extends Money, Values<typeof snapshotFields> {
  /** As JSON, with names in snake_case. A copy (`{ ...subscription }`) is without it. */
  toJSON(): SubscriptionSnapshotJson
}

/** A subscription of an event in JSON. */
export type SubscriptionSnapshotJson = JsonValues<typeof snapshotFields>

/** A period of a subscription: what was owed for which time. */
export interface Period extends Money, Values<typeof periodFields> {
  /** As JSON, with names in snake_case. A copy (`{ ...period }`) is without it. */
  toJSON(): PeriodJson
}

/** A period in JSON. */
export type PeriodJson = JsonValues<typeof periodFields>
