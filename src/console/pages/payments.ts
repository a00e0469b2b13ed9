import { html } from 'hono/html'
import { withStandings } from '../../billing/standings-of.ts'
import { paymentNoun, type ListedPayment } from '../../wire/listed-payment.ts'
import { paymentFilters } from '../../payments/payment.ts'
import type { PaymentStanding } from '../../payments/standing.ts'
import { stuckKinds } from '../../database/stuck-payments.ts'
import type { Html } from '../../http/pages/layout.ts'
import { actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { customerOf } from '../parts/customer.ts'
import { chosen, chosenOf, filters, pageSize, pager, withQuery } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { paymentBadge } from '../parts/choices.ts'
import { nounFilters, nounQuery, nounTable, type Cells } from '../parts/noun.ts'
import { shown } from '../parts/shown.ts'
import { modeBadge } from '../parts/values.ts'
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
    ...nounQuery(url, paymentFilters),
    ...given({ cursor: chosen(url, 'cursor') }),
  })
  const isShort = nextCursor !== null && data.length < pageSize
  const empty = isShort ? 'None of those that were looked at fits.' : 'There is no such payment.'
  const rows = await withStandings(console.core, data)
  return asPage(
    visit,
    html`${filters(url, fieldsOf(visit))}
    ${nounTable(paymentNoun, rows, { visit, cells, columns, empty })}
    ${
      isShort &&
      html`<p class="soft">There are many that do not fit: these are those of the newest.</p>`
    }
    ${pager(url, nextCursor, isShort ? 'Look further' : 'Next')} ${exportLink(visit)}`,
  )
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

const cells: Cells<ListedPayment & { readonly standing: PaymentStanding }> = {
  status: ({ standing }) => paymentBadge(standing),
  live: ({ live }) => modeBadge(live),
  gateway: ({ gateway }) => gateway,
  payable: ({ payable }) => shown(`${payable.type} ${payable.id}`),
  customer: customerOf,
}
