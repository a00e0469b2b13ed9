import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Payment, PaymentStatus } from '../payments/payment.ts'
import type { Applied, ApplyContext, Entry } from './applied.ts'
import type { FoundPayments } from './find-payments.ts'
import type { ManagedRows } from './managed-rows.ts'

/** What became of each entry: an event, several, a change, or nothing. */
export type Results = ReadonlyMap<Entry, readonly Applied[]>

/** What callbacks report, and what has become of it so far. */
export interface Moved extends FoundPayments {
  /** In the order of the reports. */
  readonly entries: readonly Entry[]
  readonly managed: ManagedRows
  /** The statuses of the payments before the reports, by id. */
  readonly before: ReadonlyMap<string, PaymentStatus>
  /** The payments as they are now. Their rows are locked. */
  readonly payments: ReadonlyMap<string, Payment>
  /** The documents of payments that the reports have paid, by payment. */
  readonly invoices: ReadonlyMap<string, string>
  readonly results: Results
}

/**
 * Writes what follows for one noun once payments have moved, in the same transaction. Returns what it
 * has changed of `Moved`. It makes no statement where nothing concerns it.
 */
export type Follower = (
  db: Kysely<Tables>,
  moved: Moved,
  applying: ApplyContext,
) => Promise<Partial<Pick<Moved, 'payments' | 'results'>>>
