import { invoiceFields, type Invoice, type InvoiceFormat } from '../invoices/invoice.ts'
import { snakeCase } from '../kernel/field-names.ts'
import { amountText } from '../kernel/money.ts'
import { textOf } from '../kernel/noun-text.ts'
import { byteOrderMark, csvRow, modeCell } from './csv.ts'
import { invoiceView } from './invoice.ts'

type Cell = (invoice: Invoice) => string | null

/**
 * What a table says in its own way. Money is in major units with all decimals of its currency, which
 * has a column of its own: rows of one currency stand in line, as accountants expect it.
 */
const own: Readonly<Record<string, Cell>> = {
  mode: ({ live }) => modeCell(live),
  total: ({ total, currency }) => amountText({ amount: total, currency }),
  credited: ({ credited, currency }) => amountText({ amount: credited, currency }),
  buyer_tax_id: ({ buyer }) => buyer?.taxId ?? null,
  description: ({ lines }) => lines.map(({ description }) => description).join('; '),
  payable_type: ({ payable }) => payable.type,
  payable_id: ({ payable }) => payable.id,
}

/** Fields that have no column of their name. */
const without: ReadonlySet<string> = new Set(['live', 'lines', 'payable', 'seller', 'period'])

/** The columns of a table of documents stay where they are: a field that is new comes behind them. */
const first = `number issuer status mode issued_at due_at paid_at voided_at currency total credited
buyer buyer_tax_id description payable_type payable_id gateway merchant_account payment_id
subscription_id provider_reference url id`.split(/\s/)

const cells: Readonly<Record<string, Cell>> = {
  ...Object.fromEntries(
    Object.entries(invoiceFields)
      .filter(([name]) => !without.has(name))
      .map(([name, field]) => [snakeCase(name), (row: Invoice) => textOf(name, field, row)]),
  ),
  ...own,
}
const columns = [...new Set([...first, ...Object.keys(cells)])]

/** Documents as text, a line each. A table of them begins with the names of its columns. */
export async function* invoiceLinesOf(
  invoices: AsyncIterable<Invoice>,
  format: InvoiceFormat,
): AsyncGenerator<string, void> {
  if (format === 'csv') yield byteOrderMark + csvRow(columns)
  for await (const invoice of invoices) yield lineOf(invoice, format)
}

function lineOf(invoice: Invoice, format: InvoiceFormat): string {
  if (format === 'jsonl') return `${JSON.stringify(invoiceView(invoice))}\n`
  return csvRow(columns.map((name) => cells[name]?.(invoice) ?? ''))
}
