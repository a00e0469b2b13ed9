import type { Invoice, InvoiceFormat } from '../invoices/invoice.ts'
import { amountText } from '../kernel/money.ts'
import { invoiceView } from './invoice.ts'

/**
 * The columns of a table of documents. Money is in major units with all decimals of its currency,
 * which has a column of its own: rows of one currency stand in line, as accountants expect it.
 */
const columns: Readonly<Record<string, (invoice: Invoice) => string | null>> = {
  number: ({ number }) => number,
  issuer: ({ issuer }) => issuer,
  status: ({ status }) => status,
  issued_at: ({ issuedAt }) => issuedAt.toISOString(),
  due_at: ({ dueAt }) => dueAt?.toISOString() ?? null,
  paid_at: ({ paidAt }) => paidAt?.toISOString() ?? null,
  voided_at: ({ voidedAt }) => voidedAt?.toISOString() ?? null,
  currency: ({ currency }) => currency,
  total: ({ total, currency }) => amountText({ amount: total, currency }),
  credited: ({ credited, currency }) => amountText({ amount: credited, currency }),
  buyer: ({ buyer }) => buyer?.name ?? buyer?.email ?? null,
  buyer_tax_id: ({ buyer }) => buyer?.taxId ?? null,
  description: ({ lines }) => lines.map(({ description }) => description).join('; '),
  payable_type: ({ payable }) => payable.type,
  payable_id: ({ payable }) => payable.id,
  gateway: ({ gateway }) => gateway,
  payment_id: ({ paymentId }) => paymentId,
  subscription_id: ({ subscriptionId }) => subscriptionId,
  provider_reference: ({ providerReference }) => providerReference,
  url: ({ url }) => url,
  id: ({ id }) => id,
}

/** By it a spreadsheet knows that the text is UTF-8: without, names are garbled. */
const byteOrderMark = '\u{feff}'

/** Documents as text, a line each. A table of them begins with the names of its columns. */
export async function* invoiceLinesOf(
  invoices: AsyncIterable<Invoice>,
  format: InvoiceFormat,
): AsyncGenerator<string, void> {
  if (format === 'csv') yield byteOrderMark + rowOf(Object.keys(columns))
  for await (const invoice of invoices) yield lineOf(invoice, format)
}

function lineOf(invoice: Invoice, format: InvoiceFormat): string {
  if (format === 'jsonl') return `${JSON.stringify(invoiceView(invoice))}\n`
  return rowOf(Object.values(columns).map((read) => read(invoice) ?? ''))
}

/** https://www.rfc-editor.org/rfc/rfc4180 */
function rowOf(fields: readonly string[]): string {
  return `${fields.map(fieldOf).join(',')}\r\n`
}

/**
 * A spreadsheet computes what begins like a formula, and anybody can choose a name: an apostrophe
 * before it makes it text. https://owasp.org/www-community/attacks/CSV_Injection
 */
function fieldOf(text: string): string {
  const plain = /^\s*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/u.test(text) ? `'${text}` : text
  return /[",;\r\n\t]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
