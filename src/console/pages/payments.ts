import { html } from 'hono/html'
import { standingsOf } from '../../billing/standings-of.ts'
import type { ListedPayment } from '../../wire/listed-payment.ts'
import { paymentStatuses } from '../../payments/payment.ts'
import type { PaymentStanding } from '../../payments/standing.ts'
import { stuckKinds } from '../../database/stuck-payments.ts'
import type { Html } from '../../http/pages/layout.ts'
import { actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { customerOf } from '../parts/customer.ts'
import {
  chosen,
  chosenOf,
  filters,
  pageSize,
  pager,
  withQuery,
  type Filter,
} from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { gatewayChoice, paymentBadge } from '../parts/choices.ts'
import { shown } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { amount, idLink, modeBadge, time } from '../parts/values.ts'
import { stuckChoice, stuckList } from './stuck.ts'

/** Charges, newest first. */
export async function paymentsPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const stuck = chosenOf(url, 'stuck', stuckKinds)
  if (stuck !== undefined) {
    return asPage(visit, html`${filters(url, fieldsOf(visit))} ${await stuckList(visit, stuck)}`)
  }
  const { data, nextCursor } = await console.core.payments.list({
    limit: pageSize,
    ...paymentFilter(url),
    ...given({ cursor: chosen(url, 'cursor') }),
  })
  const standingOf = await standingsOf(console.core, data)
  const isShort = nextCursor !== null && data.length < pageSize
  return asPage(
    visit,
    html`${filters(url, fieldsOf(visit))} ${rowsOf(visit, { payments: data, standingOf, isShort })}
    ${
      isShort &&
      html`<p class="soft">There are many that do not fit: these are those of the newest.</p>`
    }
    ${pager(url, nextCursor, isShort ? 'Look further' : 'Next')} ${exportLink(visit)}`,
  )
}

/** Which charges an address asks for. */
export function paymentFilter(url: URL) {
  return given({
    gateway: chosen(url, 'gateway'),
    status: chosenOf(url, 'status', paymentStatuses),
    customer: chosen(url, 'customer'),
  })
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

function fieldsOf({ console }: Visit): readonly Filter[] {
  return [
    gatewayChoice(console.core),
    {
      kind: 'choice',
      name: 'status',
      label: 'Status',
      options: paymentStatuses.map((status) => [status, status]),
    },
    stuckChoice,
    { kind: 'text', name: 'customer', label: 'Customer: id or e-mail' },
  ]
}

interface Rows {
  readonly payments: readonly ListedPayment[]
  readonly standingOf: (payment: ListedPayment) => PaymentStanding
  readonly isShort: boolean
}

function rowsOf({ console }: Visit, { payments, standingOf, isShort }: Rows): Html {
  const { path } = console
  const now = console.now()
  return table({
    caption: 'Payments, newest first',
    columns: [
      'Payment',
      'Status',
      { title: 'Amount', isNumber: true },
      'Mode',
      'Gateway',
      'For',
      'Customer',
      'Created',
    ],
    rows: payments.map((payment) => [
      idLink(`${path}/payments/${payment.id}`, payment.id),
      paymentBadge(standingOf(payment)),
      amount(payment),
      modeBadge(payment.live),
      payment.gateway,
      shown(`${payment.payable.type} ${payment.payable.id}`),
      customerOf(payment),
      time(payment.createdAt, now),
    ]),
    empty: isShort ? 'None of those that were looked at fits.' : 'There is no such payment.',
  })
}
