import type { PaymentsQuery } from '../../database/list-payments.ts'
import type { Page } from '../../database/page.ts'
import { snakeCase } from '../../kernel/field-names.ts'
import { amountText } from '../../kernel/money.ts'
import { textOf } from '../../kernel/noun-text.ts'
import type { Fields } from '../../kernel/noun.ts'
import { paymentFilters } from '../../payments/payment.ts'
import { byteOrderMark, csvRow, modeCell } from '../../wire/csv.ts'
import { listedPaymentFields, type ListedPayment } from '../../wire/listed-payment.ts'
import type { Visit } from '../context.ts'
import { customerNameOf } from '../parts/customer.ts'
import { download } from '../parts/download.ts'
import { nounQuery } from '../parts/noun.ts'
import { shownWhole } from '../parts/shown.ts'

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
const { live: _mode, payable: _payable, customer: _customer, parentId: _none, ...others } = fields

/** The first columns keep their place. All other fields follow them. */
const columns: Columns = {
  ...columnsOf('id', 'createdAt', 'gateway', 'merchantAccount'),
  mode: ({ live }) => modeCell(live),
  ...columnsOf('status', 'type', 'amount', 'currency', 'refunded'),
  payable_type: ({ payable }) => foreign(payable.type),
  payable_id: ({ payable }) => foreign(payable.id),
  customer: (payment) => foreign(customerNameOf(payment)),
  ...columnsOf('providerReference', 'checkoutReference', ...Object.keys(others)),
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
  yield byteOrderMark + csvRow(Object.keys(columns))
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
  return csvRow(Object.values(columns).map((read) => read(payment)))
}
