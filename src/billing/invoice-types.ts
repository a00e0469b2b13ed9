import type { InvoicesQuery } from '../database/list-invoices.ts'
import type { Page } from '../database/page.ts'
import type { InvoiceSnapshot } from '../events/invoice-snapshot.ts'
import type { IssueInvoiceInput } from '../money/invoice-input.ts'

/** What is exported, and how it is written. */
export interface ExportInvoicesInput {
  /** Such as `2026-11`: a month of the time zone of the settings. */
  readonly month: string
  /** `jsonl`: a document a line, as the API shows it; by default `csv`. */
  readonly format?: 'csv' | 'jsonl' | undefined
  /** True: the documents of test money, in place of the others. */
  readonly test?: boolean | undefined
}

/** `billing.invoices`: documents, ours and what providers say of theirs. */
export interface InvoiceOperations {
  /**
   * Issues a document for a charge, paid or not. A second one for the same charge is the same
   * document; what it gives must be what that one has. Never in a listener's transaction: all who
   * number would wait for it. Errors: payment_not_found, invoice_invalid, invoice_exists.
   */
  issue(paymentId: string, input?: IssueInvoiceInput): Promise<InvoiceSnapshot>
  /** Undefined for an id that no document has. */
  get(id: string): Promise<InvoiceSnapshot | undefined>
  /** Newest first. Errors: query_invalid, cursor_invalid. */
  list(query?: InvoicesQuery): Promise<Page<InvoiceSnapshot>>
  /**
   * Voids one that is owed; it keeps its number. One of a period is void with the period. Errors:
   * invoice_not_found, invoice_not_voidable.
   */
  void(id: string): Promise<InvoiceSnapshot>
  /**
   * All documents of a month, of real money or of test money, as text, in pieces: nothing is missing and nothing comes twice while
   * others are issued. No transaction is open however slowly it is read. Error: query_invalid.
   */
  export(input: ExportInvoicesInput): AsyncIterable<string>
}
