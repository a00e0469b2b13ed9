import { invoiceFormats, type InvoiceFormat } from '../../invoices/invoice.ts'
import type { Visit } from '../context.ts'
import { download } from '../parts/download.ts'
import { chosen, chosenOf } from '../parts/filters.ts'

const types = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl' } as const

/** All documents of a month as a file. */
export async function invoiceExport(visit: Visit): Promise<Response> {
  const { console, url } = visit
  const month = chosen(url, 'month') ?? ''
  const format: InvoiceFormat = chosenOf(url, 'format', invoiceFormats) ?? 'csv'
  const test = chosen(url, 'test') === 'true'
  // What is wrong with the month is thrown here, before anything is recorded.
  const lines = console.core.invoices.export({ month, format, test })
  return download(visit, {
    action: 'exportInvoices',
    subject: month,
    detail: { format, test },
    name: `invoices-${test ? 'test-' : ''}${month}.${format}`,
    type: types[format],
    lines,
  })
}
