import type { Invoice, invoiceFields } from '../invoices/invoice.ts'
import type { JsonValues } from '../kernel/noun.ts'

/** A document as it stands when the listener runs. */
export interface InvoiceSnapshot extends Invoice {
  /** As JSON, with names in snake_case. A copy (`{ ...invoice }`) is without it. */
  toJSON(): InvoiceJson
}

/** A document in JSON. */
export interface InvoiceJson extends JsonValues<typeof invoiceFields> {}
