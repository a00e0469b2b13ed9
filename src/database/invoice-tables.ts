import type { InvoiceIssuer, InvoiceStatus } from '../invoices/invoice.ts'
import type { JsonText, NullableJsonText, NullableTimestamp, Timestamp } from './column-types.ts'

export interface InvoicesTable {
  id: string
  issuer: InvoiceIssuer
  status: InvoiceStatus
  series: string | null
  number: bigint | null
  /** As it is printed; the provider's own is a number for us only in this form. */
  number_text: string | null
  period_id: string | null
  payment_id: string | null
  subscription_id: string | null
  payable_type: string
  payable_id: string
  gateway: string
  merchant_account: string | null
  live: boolean | null
  provider_reference: string | null
  /** Where the provider's document is. */
  url: string | null
  currency: string
  total: bigint
  lines: JsonText
  seller: NullableJsonText
  buyer: NullableJsonText
  /** Of the customer: in which language its page is shown. */
  locale: string | null
  /** In whose days its dates are shown. */
  time_zone: string
  issued_at: Timestamp
  due_at: NullableTimestamp
  paid_at: NullableTimestamp
  voided_at: NullableTimestamp
  created_at: Timestamp
  updated_at: Timestamp
}

/** The last number of each series: whoever takes the next holds its row until the commit. */
export interface InvoiceSeriesTable {
  series: string
  last: bigint
  /** The date of the last number. */
  issued_at: Timestamp
}
