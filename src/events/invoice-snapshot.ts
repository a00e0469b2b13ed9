import type {
  Invoice,
  InvoiceBuyer,
  InvoiceLine,
  InvoicePeriod,
  InvoiceSeller,
} from '../invoices/invoice.ts'
import type { JsonFields } from '../payments/payment.ts'

/** A document as it stands when the listener runs. */
export interface InvoiceSnapshot extends Invoice {
  /** As JSON, with names in snake_case. A copy (`{ ...invoice }`) is without it. */
  toJSON(): InvoiceJson
}

/** A document in JSON. */
export interface InvoiceJson extends JsonFields<
  Omit<Invoice, 'lines' | 'period' | 'seller' | 'buyer'>
> {
  readonly lines: readonly JsonFields<InvoiceLine>[]
  readonly period: JsonFields<InvoicePeriod> | null
  readonly seller: Partial<JsonFields<InvoiceSeller>> | null
  readonly buyer: Partial<JsonFields<InvoiceBuyer>> | null
}
