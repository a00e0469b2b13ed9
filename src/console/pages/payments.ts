import { html } from 'hono/html'
import { withStandings } from '../../billing/standings-of.ts'
import type { PaymentsQuery } from '../../database/list-payments.ts'
import type { Page } from '../../database/page.ts'
import { type StuckKind, stuckKinds } from '../../database/stuck-payments.ts'
import { stuckWords } from '../../health/money-facts.ts'
import type { Html } from '../../http/pages/layout.ts'
import { snakeCase } from '../../kernel/field-names.ts'
import { amountText } from '../../kernel/money.ts'
import { textOf } from '../../kernel/noun-text.ts'
import { time, type Fields } from '../../kernel/noun.ts'
import { paymentFilters, type Payment } from '../../payments/payment.ts'
import type { PaymentStanding } from '../../payments/standing.ts'
import { byteOrderMark, csvRow, modeCell } from '../../wire/csv.ts'
import { type ListedPayment, listedPaymentFields, paymentNoun } from '../../wire/listed-payment.ts'
import { actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { paymentBadge } from '../parts/choices.ts'
import { customerNameOf, customerOf } from '../parts/customer.ts'
import { download } from '../parts/download.ts'
import {
  type Filter,
  chosen,
  chosenOf,
  filters,
  pageSize,
  pager,
  withQuery,
} from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { listed } from '../parts/listed.ts'
import { type Cells, nounFilters, nounQuery, nounTable } from '../parts/noun.ts'
import { shown, shownWhole } from '../parts/shown.ts'
import { ago, modeBadge } from '../parts/values.ts'

/** Charges, newest first. */
export async function paymentsPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const stuck = chosenOf(url, 'stuck', stuckKinds)
  if (stuck !== undefined) {
    return asPage(visit, html`${filters(url, fieldsOf(visit))} ${await stuckList(visit, stuck)}`)
  }
  const { data, nextCursor, fault, status } = await listed(async () =>
    console.core.payments.list({
      limit: pageSize,
      ...nounQuery(url, paymentFilters),
      ...given({ cursor: chosen(url, 'cursor') }),
    }),
  )
  const isShort = nextCursor !== null && data.length < pageSize
  const empty = isShort ? 'None of those that were looked at fits.' : 'There is no such payment.'
  const rows = await withStandings(console.core, data)
  const body = html`${filters(url, fieldsOf(visit))} ${fault}
  ${fault === false && nounTable(paymentNoun, rows, { visit, cells: paymentCells, columns, empty })}
  ${
    isShort &&
    html`<p class="soft">There are many that do not fit: these are those of the newest.</p>`
  }
  ${pager(url, nextCursor, isShort ? 'Look further' : 'Next')}
  ${fault === false && exportLink(visit)}`
  return { ...asPage(visit, body), status }
}

function exportLink({ console, url }: Visit): Html {
  const href = withQuery(url, { cursor: undefined, done: undefined, stuck: undefined })
  const query = href.slice(url.pathname.length)
  return html`<p class="soft">
    <a class="button" href="${console.path}/payments/export${query}">Download as CSV</a> All that
    match, the newest 10,000 at most. Who downloads what is recorded in the audit.
  </p>`
}

function asPage(visit: Visit, body: Html): ConsolePage {
  const { path, development } = visit.console
  const create = development && actionLink(visit, `${path}/payments/new`, 'Create a test payment')
  return {
    title: 'Payments',
    section: 'payments',
    beside: html`<span class="actions">${create}</span>`,
    body,
  }
}

function fieldsOf(visit: Visit) {
  return [...nounFilters(visit, paymentFilters), stuckChoice]
}

const columns = ['id', 'status', 'amount', 'live', 'gateway', 'payable', 'customer', 'createdAt']

/** What lists of payments show in their own way. */
const paymentCells: Cells<Payment & { readonly standing: PaymentStanding }> = {
  status: ({ standing }) => paymentBadge(standing),
  live: ({ live }) => modeBadge(live),
  gateway: ({ gateway }) => gateway,
  payable: ({ payable }) => shown(`${payable.type} ${payable.id}`),
  customer: customerOf,
}

const stuckNames: Readonly<Record<StuckKind, string>> = {
  checkout_unknown: 'checkout unknown',
  poll_overdue: 'poll overdue',
  refund_pending: 'refund under way',
  dispute_open: 'dispute open',
}

const stuckChoice: Filter = {
  kind: 'choice',
  name: 'stuck',
  label: 'Stuck',
  options: stuckKinds.map((kind) => [kind, stuckNames[kind]]),
}

/** Money that is stuck, the longest first. */
async function stuckList(visit: Visit, stuck: StuckKind): Promise<Html> {
  const { console, url } = visit
  const { data, nextCursor } = await console.core.inspect.stuck({
    stuck,
    limit: pageSize,
    ...given({ cursor: chosen(url, 'cursor') }),
  })
  const rows = await withStandings(
    console.core,
    data.map(({ payment, since }) => Object.assign({ since }, payment)),
  )
  const now = console.now()
  return html`<p>These are ${stuckWords[stuck]}; the longest first.</p>
    ${nounTable({ ...paymentNoun, facts: { ...paymentNoun.facts, since: time() } }, rows, {
      visit,
      columns: ['id', 'status', 'amount', 'live', 'gateway', 'payable', 'since'],
      cells: { ...paymentCells, since: ({ since }) => ago(since, now) },
      caption: 'Stuck payments, the longest first',
      empty: 'None is.',
    })}
    ${pager(url, nextCursor)}`
}

/** What others wrote: nothing in it hides or reorders its neighbours, or is the number of a card. */
const foreign = (text: string | null | undefined) => shownWhole(text ?? '')

const fields: Fields = listedPaymentFields
type Columns = Readonly<Record<string, (payment: ListedPayment) => string>>

function columnsOf(...names: readonly string[]): Columns {
  return Object.fromEntries(
    names.map((name) => [snakeCase(name), (payment) => cellOf(name, payment)]),
  )
}

function cellOf(name: string, payment: ListedPayment): string {
  const field = fields[name]
  if (field === undefined) return ''
  const { [name]: value } = payment as object as Readonly<Record<string, unknown>>
  if (typeof value === 'bigint') return amountText({ amount: value, currency: payment.currency })
  const text = textOf(name, field, payment) ?? ''
  return field.kind === 'text' || field.kind === 'object' ? foreign(text) : text
}

/** Those that say in a form of their own what these fields do; of a charge `parentId` says nothing. */
const inOwnForm = ['live', 'payable', 'customer', 'parentId']

/** Addresses that may be as good as a password: a file is sent on, and kept for years. */
const addresses = ['returnUrl', 'checkoutUrl']

const without = new Set([...inOwnForm, ...addresses])
const others = Object.keys(fields).filter((name) => !without.has(name))

/** The first columns keep their place. The other fields follow them. */
const exportColumns: Columns = {
  ...columnsOf('id', 'createdAt', 'gateway', 'merchantAccount'),
  mode: ({ live }) => modeCell(live),
  ...columnsOf('status', 'type', 'amount', 'currency', 'refunded'),
  payable_type: ({ payable }) => foreign(payable.type),
  payable_id: ({ payable }) => foreign(payable.id),
  customer: (payment) => foreign(customerNameOf(payment)),
  ...columnsOf('providerReference', 'checkoutReference', ...others),
}

const mostRows = 10_000
const atOnce = 100
/** Of a rare status a page may be short, or empty: it is not looked for without end. */
const mostLooks = 2 * (mostRows / atOnce)

/** The charges that match, newest first, as a file. */
export async function paymentExport(visit: Visit): Promise<Response> {
  const { console, url } = visit
  const filter = nounQuery(url, paymentFilters)
  const { payable } = filter
  const read = (place: Pick<PaymentsQuery, 'cursor'>) =>
    console.core.payments.list({ ...filter, ...place, limit: atOnce })
  // What is wrong with the filter is thrown here, before anything is recorded.
  const first = await read({})
  return download(visit, {
    action: 'exportPayments',
    subject: null,
    detail: { ...filter, ...(payable && { payable: `${payable.type}:${payable.id}` }) },
    name: `payments-${console.now().toISOString().slice(0, 10)}.csv`,
    type: 'text/csv; charset=utf-8',
    lines: linesOf(first, (cursor) => read({ cursor })),
  })
}

async function* linesOf(
  first: Page<ListedPayment>,
  next: (cursor: string) => Promise<Page<ListedPayment>>,
): AsyncGenerator<string, void> {
  yield byteOrderMark + csvRow(Object.keys(exportColumns))
  let page = first
  let rows = 0
  for (let looks = 1; ; looks += 1) {
    yield page.data.map(lineOf).join('')
    rows += page.data.length
    if (page.nextCursor === null) return
    if (rows >= mostRows || looks >= mostLooks) {
      yield csvRow([`There may be more than these ${rows}: narrow the filter.`])
      return
    }
    page = await next(page.nextCursor)
  }
}

function lineOf(payment: ListedPayment): string {
  return csvRow(Object.values(exportColumns).map((read) => read(payment)))
}
