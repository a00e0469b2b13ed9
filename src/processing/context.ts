import type { Kysely } from 'kysely'
import type { Database } from '../database/connect.ts'
import type { Tables } from '../database/tables.ts'
import type { Registry } from '../gateways/registry.ts'
import type { Cipher } from '../kernel/encryption.ts'
import type { InvoicePolicy } from '../invoices/invoice.ts'
import type { Log } from '../kernel/log.ts'
import type { DispatchContext } from '../listeners/run-listeners.ts'
import type { Numbers } from '../numbers/slots.ts'
import type { SubscriptionPolicy } from '../subscriptions/change.ts'

/** What processing needs besides its work. */
export interface ProcessingContext extends DispatchContext {
  readonly database: Database
  readonly gateways: Registry
  readonly log: Log
  readonly numbers: Numbers
  /** For what is stored encrypted; undefined where no key is set. */
  readonly cipher: Cipher | undefined
  readonly random: () => number
  /**
   * The time that subscriptions live by, the database's: no other clock decides about them. Another
   * one for rehearsals and tests.
   */
  subscriptionTime(db: Kysely<Tables>): Promise<Date>
  readonly subscriptionPolicy: SubscriptionPolicy
  /** Whether the production rules hold. */
  readonly production: boolean
  /** Blanks out known secrets in a text that will be stored. */
  scrub(text: string): string
  /** Work after commits that has not ended yet. */
  readonly underWay: Set<Promise<void>>
  /** Where the payer can pay what a subscription owes. */
  payPageUrl(subscriptionId: string): string
  /** How documents are issued, and where one of ours can be read. */
  readonly invoicing: InvoicePolicy
  invoiceUrl(invoiceId: string): string
  /** Events were committed: they get their places in the feed. */
  onEvents(): void
  /** Something waits: the workers of this process look for it now. */
  wake(what?: Woken): void
}

/** What workers are woken for: all that they take, if left out. */
export type Woken = 'deliveries' | 'subscription_events' | 'subscriptions'
