import { html } from 'hono/html'
import type { InvoiceSnapshot } from '../../events/invoice-snapshot.ts'
import type { Html } from '../../http/pages/layout.ts'
import { invoiceStatuses } from '../../invoices/invoice.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { invoiceBadge } from '../parts/badges.ts'
import { chosen, chosenOf, filters, pager, pageSize, type Filter } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { linkTo } from '../parts/links.ts'
import { listed } from '../parts/listed.ts'
import { chosenPayable, payableFilter, payableOf } from '../parts/payable.ts'
import { shown } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { amount, modeBadge, nothing, time } from '../parts/values.ts'

/** Documents, newest first. */
export async function invoicesPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const { data, nextCursor, fault, status } = await listed(async () =>
    console.core.invoices.list({
      limit: pageSize,
      ...given({
        cursor: chosen(url, 'cursor'),
        series: chosen(url, 'series'),
        status: chosenOf(url, 'status', invoiceStatuses),
        month: chosen(url, 'month'),
        test: testChosen(url),
        payable: chosenPayable(url),
      }),
    }),
  )
  return {
    status,
    title: 'Invoices',
    section: 'invoices',
    body: html`${filters(url, fields)} ${fault} ${fault === false && rowsOf(visit, data)}
    ${pager(url, nextCursor)} ${exportForm(visit)}`,
  }
}

const fields: readonly Filter[] = [
  { kind: 'text', name: 'series', label: 'Series' },
  {
    kind: 'choice',
    name: 'status',
    label: 'Status',
    options: invoiceStatuses.map((status) => [status, status]),
  },
  { kind: 'text', name: 'month', label: 'Month, like 2026-11' },
  {
    kind: 'choice',
    name: 'test',
    label: 'Money',
    options: [
      ['false', 'without test money'],
      ['true', 'test money alone'],
    ],
  },
  payableFilter,
]

function testChosen(url: URL): boolean | undefined {
  const test = chosenOf(url, 'test', ['true', 'false'])
  return test === undefined ? undefined : test === 'true'
}

function rowsOf(visit: Visit, invoices: readonly InvoiceSnapshot[]): Html {
  const now = visit.console.now()
  return table({
    caption: 'Documents, newest first',
    columns: [
      'Document',
      'Number',
      'Status',
      { title: 'Total', isNumber: true },
      { title: 'Credited', isNumber: true },
      'For',
      'Buyer',
      'Payment',
      'Issued',
      'Due',
    ],
    rows: invoices.map((one) => [
      linkTo(visit, 'invoices', one.id),
      numberOf(one),
      html`${invoiceBadge(one.status)} ${modeBadge(one.live)}`,
      amount({ amount: one.total, currency: one.currency }),
      one.credited === 0n ? nothing : amount({ amount: one.credited, currency: one.currency }),
      payableOf(visit.console, one.payable),
      buyerOf(one),
      linkTo(visit, 'payments', one.paymentId),
      time(one.issuedAt, now),
      time(one.dueAt, now),
    ]),
    empty: 'There is no such document.',
  })
}

/** As it is printed; a provider writes what it likes. */
export function numberOf({ number }: InvoiceSnapshot): Html {
  return number === null ? nothing : html`<span class="id">${shown(number)}</span>`
}

export function buyerOf({ buyer }: InvoiceSnapshot): Html {
  const name = buyer?.name ?? buyer?.email
  return name === undefined ? nothing : html`${shown(name)}`
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
