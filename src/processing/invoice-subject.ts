import { invoiceSnapshotOf } from '../wire/invoice.ts'
import type { InvoiceSubject } from '../outcomes/applied.ts'
import type { Subjects } from './load-subjects.ts'

/** An event of a document. */
export interface InvoiceEventOf {
  readonly type: string
  readonly invoiceId: string
}

/** The document as it stands, and of InvoicePaid its payment. */
export function invoiceSubjectOf(
  { type, invoiceId }: InvoiceEventOf,
  { invoices, payments }: Pick<Subjects, 'invoices' | 'payments'>,
): InvoiceSubject {
  const found = invoices.get(invoiceId)
  // None is ever deleted.
  if (found === undefined) throw new Error(`invoice ${invoiceId} of an event is gone`)
  const invoice = invoiceSnapshotOf(found)
  if (type !== 'InvoicePaid') return { invoice }
  return { invoice, payment: payments.get(found.paymentId ?? '') ?? null }
}
