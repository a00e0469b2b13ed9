import type { Invoice, InvoiceFormat } from '../invoices/invoice.ts'
import { amountText } from '../kernel/money.ts'
import { byteOrderMark, csvRow, modeCell } from './csv.ts'
import { invoiceView } from './invoice.ts'

/**
 * The columns of a table of documents. Money is in major units with all decimals of its currency,
 * which has a column of its own: rows of one currency stand in line, as accountants expect it.
 */
const columns: Readonly<Record<string, (invoice: Invoice) => string | null>> = {
  number: ({ number }) => number,
  issuer: ({ issuer }) => issuer,
  status: ({ status }) => status,
  mode: ({ live }) => modeCell(live),
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
  merchant_account: ({ merchantAccount }) => merchantAccount,
  payment_id: ({ paymentId }) => paymentId,
  subscription_id: ({ subscriptionId }) => subscriptionId,
  provider_reference: ({ providerReference }) => providerReference,
  url: ({ url }) => url,
  id: ({ id }) => id,
}

/** Documents as text, a line each. A table of them begins with the names of its columns. */
export async function* invoiceLinesOf(
  invoices: AsyncIterable<Invoice>,
  format: InvoiceFormat,
): AsyncGenerator<string, void> {
  if (format === 'csv') yield byteOrderMark + csvRow(Object.keys(columns))
  for await (const invoice of invoices) yield lineOf(invoice, format)
}

function lineOf(invoice: Invoice, format: InvoiceFormat): string {
  if (format === 'jsonl') return `${JSON.stringify(invoiceView(invoice))}\n`
  return csvRow(Object.values(columns).map((read) => read(invoice) ?? ''))
}
