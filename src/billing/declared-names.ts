import type { builtinSummaries } from '../gateways/builtin-summaries.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { PlanOption } from './setting-types.ts'

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
