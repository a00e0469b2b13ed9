import type { StoredRefusal } from '../database/refusals.ts'
import type { RefusalCount } from '../inspect/count-refusals.ts'
import type { KnownSchedule } from '../database/list-schedules.ts'
import type { GatewaySetup } from './gateway-setup.ts'
import type { ShownSetting } from './shown-settings.ts'
import type { ScannedCalls, ScanQuery } from '../inspect/scan-calls.ts'
import type { Found } from '../wire/found.ts'
import type { Page } from '../database/page.ts'
import type { FailedReport, FailedReportQuery } from '../inspect/failed.ts'
import type { GatewayFacts } from '../inspect/gateway-facts.ts'
import type { Overview, OverviewSpan } from '../health/overview.ts'
import type { StuckPayment, StuckQuery } from '../inspect/stuck.ts'
import type { Timeline } from '../inspect/timeline.ts'
import type { DayTotals, TotalsQuery } from '../inspect/totals.ts'
import type { Payment } from '../payments/payment.ts'

/** What an overview is of. */
export interface OverviewQuery {
  /** `1h`, `24h` (if left out), `7d` or `30d`. */
  readonly span?: OverviewSpan
}

/** How a service is set up. */
export interface ShownSettings {
  /** Whether the production rules hold. */
  readonly production: boolean
  readonly database: 'embedded' | 'postgres'
  /** Whether workers process the stored calls, or requests do. */
  readonly queueConnection: 'database' | 'sync'
  readonly retentionDays: number
  /** Those that are not as they are by default. */
  readonly settings: readonly ShownSetting[]
  /** What is not as it should be, but can be lived with. */
  readonly warnings: readonly string[]
}

/** Which refused callbacks; those of all gateways if left out. */
export interface RefusalsQuery {
  /** Canonical; empty: callbacks that name no gateway that there is. */
  readonly gateway?: string
}

/** Callbacks that were not accepted. */
export interface Refusals {
  /** Of the last 24 hours, up to a minute ago; most first. */
  readonly counts: readonly RefusalCount[]
  /** What a few of the last 7 days looked like, newest first; at most five for a reason. */
  readonly samples: readonly StoredRefusal[]
}

/** `billing.inspect`: what a console shows. Each look is bounded, however many rows there are. */
export interface InspectOperations {
  /** What happened to a payment, in the order of time; undefined for an id that no payment has. */
  timeline(paymentId: string): Promise<Timeline | undefined>
  /** How the service is doing: problems first, then what was counted. Error: query_invalid. */
  overview(query?: OverviewQuery): Promise<Overview>
  /** Payments that are stuck, the longest first. Errors: query_invalid, cursor_invalid. */
  stuck(query: StuckQuery): Promise<Page<StuckPayment>>
  /** What failed for good, by why it did. Error: query_invalid. */
  failed(query?: FailedReportQuery): Promise<FailedReport>
  /** What was counted of each gateway, in the order of registration. */
  gateways(): Promise<readonly GatewayFacts[]>
  /** The same of one, by its name or alias; undefined for a name that no gateway has. */
  gateway(name: string): Promise<GatewayFacts | undefined>
  /**
   * What a text may name, by exact match: an id of ours; a provider's id or checkout reference; a
   * payable or its id; a customer's id, e-mail or phone; metadata that `search.metadata` names; the
   * number of an invoice; an amount and a day, such as `19.99 EUR yesterday`. Error: query_invalid.
   */
  find(text: string): Promise<Found>
  /**
   * Stored callbacks whose payload contains a text, newest first: 20,000 are looked at, or those of two
   * seconds, and `nextCursor` looks further. What is masked or encrypted is not found. Errors:
   * query_invalid, cursor_invalid.
   */
  callsWith(query: ScanQuery): Promise<ScannedCalls>
  /** How the service is set up; of secrets, nothing but that they are set. */
  settings(): ShownSettings
  /** What a gateway has of what it needs, by name or alias. Error: gateway_unknown. */
  gatewaySetup(name: string): GatewaySetup
  /**
   * Where a person sees a payment in the dashboard of its provider: an https address; undefined if
   * none is known.
   */
  dashboardUrl(payment: Payment): string | undefined
  /** What is done at its times, by name. */
  schedules(): Promise<readonly KnownSchedule[]>
  /** Callbacks that were refused, by reason, and what a few looked like. Error: query_invalid. */
  refusals(query?: RefusalsQuery): Promise<Refusals>
  /**
   * What was paid, refunded and disputed in each of these days, newest first, as payments say it:
   * days since the first payment, up to today. Error: query_invalid.
   */
  totals(query: TotalsQuery): Promise<readonly DayTotals[]>
}
