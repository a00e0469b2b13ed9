import type { InvoiceIssuer, InvoiceStatus } from '../../invoices/invoice.ts'

export const invoiceStatusWords: Readonly<Record<InvoiceStatus, string>> = {
  issued: 'It is owed.',
  paid: 'It is paid, and stays so; what went back is noted on it.',
  void: 'The buyer owes nothing. The invoice keeps its number.',
}

export const issuerWords: Readonly<Record<InvoiceIssuer, string>> = {
  us: 'us, numbered by ourselves',
  provider: 'the provider, whose document it is',
}
