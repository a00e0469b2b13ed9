import type { PaymentsQuery } from '../../database/list-payments.ts'
import type { Page } from '../../database/page.ts'
import { amountText } from '../../kernel/money.ts'
import { byteOrderMark, csvRow, modeCell } from '../../wire/csv.ts'
import type { ListedPayment } from '../../wire/listed-payment.ts'
import type { Visit } from '../context.ts'
import { customerNameOf } from '../parts/customer.ts'
import { download } from '../parts/download.ts'
import { shownWhole } from '../parts/shown.ts'
import { paymentFilter } from './payments.ts'

/** What others wrote: nothing in it hides or reorders its neighbours, or is the number of a card. */
const foreign = (text: string | null | undefined) => shownWhole(text ?? '')

const columns: Readonly<Record<string, (payment: ListedPayment) => string>> = {
  id: ({ id }) => id,
  created_at: ({ createdAt }) => createdAt.toISOString(),
  gateway: ({ gateway }) => gateway,
  merchant_account: ({ merchantAccount }) => foreign(merchantAccount),
  mode: ({ live }) => modeCell(live),
  status: ({ status }) => status,
  type: ({ type }) => type,
  amount: (payment) => amountText(payment),
  currency: ({ currency }) => currency,
  refunded: ({ refunded, currency }) => amountText({ amount: refunded, currency }),
  payable_type: ({ payable }) => foreign(payable.type),
  payable_id: ({ payable }) => foreign(payable.id),
  customer: (payment) => foreign(customerNameOf(payment)),
  provider_reference: ({ providerReference }) => foreign(providerReference),
  checkout_reference: ({ checkoutReference }) => foreign(checkoutReference),
}

const mostRows = 10_000
const atOnce = 100
/** Of a rare status a page may be short, or empty: it is not looked for without end. */
const mostLooks = 2 * (mostRows / atOnce)

/** The charges that match, newest first, as a file. */
export async function paymentExport(visit: Visit): Promise<Response> {
  const { console, url } = visit
  const filter = paymentFilter(url)
  const read = (place: Pick<PaymentsQuery, 'cursor'>) =>
    console.core.payments.list({ ...filter, ...place, limit: atOnce })
  // What is wrong with the filter is thrown here, before anything is recorded.
  const first = await read({})
  return download(visit, {
    action: 'exportPayments',
    subject: null,
    detail: filter,
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
