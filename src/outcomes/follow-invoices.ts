import type { Kysely } from 'kysely'
import { markInvoicesPaid } from '../database/invoices.ts'
import type { Tables } from '../database/tables.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Entry } from './applied.ts'
import type { FoundPayments } from './find-payments.ts'
import { writingOf } from './follow-periods.ts'

/** What was applied, and the documents of the payments that it has paid, by payment. */
interface Paid extends Pick<FoundPayments, 'ids'> {
  readonly entries: readonly Entry[]
  readonly invoices: ReadonlyMap<string, string>
}

/**
 * Marks documents whose payments are paid now; no statement where no payment has one. They are locked
 * after payments and subscriptions, in the order of their ids.
 */
export async function followInvoices(
  db: Kysely<Tables>,
  { entries, invoices, ids }: Paid,
  newId: NewId,
): Promise<void> {
  if (invoices.size === 0) return
  const reports = new Map(entries.map((entry) => [ids.get(entry), entry.report]))
  for (const [paymentId, invoiceId] of [...invoices].toSorted(byInvoice)) {
    const report = reports.get(paymentId)
    if (report !== undefined) await markInvoicesPaid(db, [invoiceId], writingOf(report, newId))
  }
}

function byInvoice([, a]: readonly [string, string], [, b]: readonly [string, string]): number {
  return a < b ? -1 : 1
}
