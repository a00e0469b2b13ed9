import { html } from 'hono/html'
import type { InvoiceSnapshot } from '../../events/invoice-snapshot.ts'
import type { Html } from '../../http/pages/layout.ts'
import { type InvoiceFormat, invoiceFilters, invoiceFormats } from '../../invoices/invoice.ts'
import { invoiceNoun } from '../../wire/invoice.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { invoiceBadge } from '../parts/badges.ts'
import { download } from '../parts/download.ts'
import { chosen, chosenOf, filters, pageSize, pager } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { listed } from '../parts/listed.ts'
import { type Cells, nounFilters, nounQuery, nounTable } from '../parts/noun.ts'
import { shown } from '../parts/shown.ts'
import { amount, modeBadge, nothing } from '../parts/values.ts'

/** Documents, newest first. */
export async function invoicesPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const { data, nextCursor, fault, status } = await listed(async () =>
    console.core.invoices.list({
      limit: pageSize,
      ...given({ cursor: chosen(url, 'cursor') }),
      ...nounQuery(url, invoiceFilters),
    }),
  )
  return {
    status,
    title: 'Invoices',
    section: 'invoices',
    body: html`${filters(url, nounFilters(visit, invoiceFilters))} ${fault}
    ${fault === false && rowsOf(visit, data)} ${pager(url, nextCursor)} ${exportForm(visit)}`,
  }
}

const columns = `id number status total credited payable buyer paymentId issuedAt dueAt`.split(' ')

function rowsOf(visit: Visit, invoices: readonly InvoiceSnapshot[]): Html {
  return nounTable(invoiceNoun, invoices, {
    visit,
    cells: {
      ...cells,
      status: ({ status, live }) => html`${invoiceBadge(status)} ${modeBadge(live)}`,
      credited: ({ credited, currency }) =>
        credited === 0n ? nothing : amount({ amount: credited, currency }),
    },
    columns,
    empty: 'There is no such document.',
  })
}

/** What the list and the page of a document show in their own way. */
export const cells: Cells<InvoiceSnapshot> = {
  /** As it is printed; a provider writes what it likes. */
  number: ({ number }) =>
    number === null ? nothing : html`<span class="id">${shown(number)}</span>`,
}

/** A month of this shape is asked for, whatever is filtered above. */
function exportForm({ console, url }: Visit): Html {
  const month = chosen(url, 'month') ?? console.now().toISOString().slice(0, 7)
  return html`<h2>Export a month</h2>
    <form class="filters" action="${console.path}/invoices/export">
      <label
        >Month, like 2026-11
        <input name="month" maxlength="7" pattern="[0-9]{4}-[0-9]{2}" value="${month}" required
      /></label>
      <label
        >As
        <select name="format">
          <option value="csv">CSV, for a spreadsheet</option>
          <option value="jsonl">JSON lines, for a program</option>
        </select></label
      >
      <label
        >Money
        <select name="test">
          <option value="false">without test money</option>
          <option value="true">test money alone</option>
        </select></label
      >
      <button>Download</button>
    </form>
    <p class="soft">
      All documents of this money that were issued in it, whatever is shown above. Who downloads
      what is recorded in the audit.
    </p>`
}

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
