import type { builtinSummaries } from '../gateways/builtin-summaries.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { CurrencyCode } from '../kernel/currency-code.ts'
import type { QuotaInput } from '../money/quota-rules.ts'
import type { IntervalInput } from '../subscriptions/interval.ts'

type Builtin = (typeof builtinSummaries)[number]

/** The name or an alias of a gateway that comes with the service. */
export type BuiltinGateway = Builtin['name'] | Builtin['aliases'][number]

/** Which names the input of a billing may use; `string`: any, and it is checked when it is used. */
export interface BillingNames {
  readonly gateway: string
  readonly plan: string
  readonly quota: string
}

/** What options declare: without plans, or quotas of plans, any name of one compiles. */
export interface DeclaredNames<
  Plan extends string,
  Quota extends string,
  Own extends string,
> extends BillingNames {
  readonly gateway: BuiltinGateway | Own
  readonly plan: Plan
  readonly quota: Quota
}

/** A template of subscriptions, as settings have it. */
export interface PlanOption<Quota extends string = string> {
  /** Minor units of the currency. */
  readonly amount: bigint | number
  readonly currency: CurrencyCode
  /** `month`, `3 months`, `{ unit: 'month', count: 3 }`. */
  readonly every: IntervalInput
  /** Whole days without pay before the first period. */
  readonly trialDays?: number
  /** The same, as quittance.config.ts may write it. */
  readonly trial_days?: number
  /** What may be used, by names: `{ api_calls: { limit: 10_000 } }`. */
  readonly quotas?: { readonly [Name in Quota]?: QuotaInput | null } | undefined
}

/** Options whose names of plans, quotas and gateways are inferred. */
export type WithNames<
  Options,
  Plan extends string,
  Quota extends string,
  Account extends string,
> = Omit<Options, 'plans' | 'gateways'> & {
  /** Templates of subscriptions by their names: see docs/13-subscriptions.md. */
  readonly plans?: { readonly [Name in Plan]: PlanOption<Quota> } | undefined
  /** Credentials by gateway name and field; with `driver`, of an account of its own. */
  readonly gateways?: { readonly [Name in Account]: Readonly<Record<string, string>> } | undefined
}

/** Gateways of an app's own, whose names are inferred where they are literals. */
export type NamedGateways<Name extends string> =
  | readonly (Gateway & { readonly name: Name })[]
  | undefined
