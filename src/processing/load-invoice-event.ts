import type { Kysely } from 'kysely'
import { findPayment } from '../database/payments.ts'
import { findInvoice } from '../database/read-invoices.ts'
import type { Tables } from '../database/tables.ts'
import type { InvoiceSubject } from '../outcomes/applied.ts'
import { invoiceSnapshotOf } from '../wire/invoice.ts'
import type { ProcessingContext } from './context.ts'

/** What is needed to load what an event of a document carries. */
export type InvoiceContext = Pick<ProcessingContext, 'invoiceUrl'>

/** The document as it stands, and of InvoicePaid its payment. Nothing is locked. */
export async function loadInvoiceEvent(
  db: Kysely<Tables>,
  { type, invoiceId }: { readonly type: string; readonly invoiceId: string },
  { invoiceUrl }: InvoiceContext,
): Promise<InvoiceSubject> {
  const found = await findInvoice(db, invoiceId, invoiceUrl)
  // None is ever deleted.
  if (found === undefined) throw new Error(`invoice ${invoiceId} of an event is gone`)
  const invoice = invoiceSnapshotOf(found)
  if (type !== 'InvoicePaid') return { invoice }
  const { paymentId } = found
  return {
    invoice,
    payment: paymentId === null ? null : ((await findPayment(db, paymentId)) ?? null),
  }
}
