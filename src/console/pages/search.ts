import { html } from 'hono/html'
import { standingsOf } from '../../billing/standings-of.ts'
import type { Html } from '../../http/pages/layout.ts'
import { isQuittanceError } from '../../kernel/errors.ts'
import { days, hours, type Duration } from '../../kernel/duration.ts'
import { seeOther } from '../../http/pages/layout.ts'
import type { PaymentStanding } from '../../payments/standing.ts'
import type { Found, FoundBy, FoundPayment, Hit } from '../../wire/found.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { callBadge, paymentBadge } from '../parts/choices.ts'
import { chosen, chosenOf, pager, withQuery, pageSize } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { shown } from '../parts/shown.ts'
import { table, type Cell } from '../parts/table.ts'
import { amount, idLink, modeBadge, nothing, time } from '../parts/values.ts'

const byNames: Readonly<Record<FoundBy, string>> = {
  id: 'its id',
  provider_reference: "the provider's id",
  checkout_reference: "the checkout's id",
  subscription_reference: "the provider's id of the subscription",
  invoice_number: 'its number',
  payable: 'what it is for',
  payable_id: 'the id of what it is for',
  customer_id: "the customer's id",
  email: "the customer's e-mail",
  phone: "the customer's phone",
  metadata: 'its metadata',
  amount: 'its amount and day',
}

/** Where each kind has its page. */
const sections: Readonly<Record<Hit['kind'], string>> = {
  payment: 'payments',
  refund: 'payments',
  call: 'calls',
  event: 'events',
  subscription: 'subscriptions',
  invoice: 'invoices',
  payment_method: 'payment-methods',
  review: 'reviews',
}

/** Whatever a text names; the page of it, if it is one thing by its id. */
export async function searchPage(visit: Visit): Promise<ConsolePage | Response> {
  const { console, url } = visit
  const text = chosen(url, 'q')
  if (text === undefined) return asPage(html`${hints}`)
  let found: Found
  try {
    found = await console.core.inspect.find(text)
  } catch (error) {
    if (!isQuittanceError(error) || error.code !== 'query_invalid') throw error
    return asPage(
      html`<p class="fault" role="alert">${shown(error.message)}</p>
        ${hints}`,
    )
  }
  const [only] = found.data
  if (only?.by === 'id' && found.data.length === 1 && hasPage(only)) {
    return seeOther(`${console.path}/${sections[only.kind]}/${only.id}`)
  }
  const inside = withQuery(new URL(`${console.path}/search/calls`, url), { text })
  return asPage(
    html`${await rowsOf(visit, found)}
      ${found.hasMore && html`<p>There may be more: only 50 are looked for.</p>`}
      <p><a href="${inside}">Search inside the callbacks of the last 24 h for this text</a></p>`,
  )
}

function asPage(body: Html): ConsolePage {
  return { title: 'Find', body }
}

const hints = html`<p class="panel">
  Any id of ours or of a provider; an e-mail, a phone, an order; or an amount and a day, such as
  <code>1999 22.11</code> or <code>19.99 EUR yesterday</code>.
</p>`

function hasPage({ kind }: Hit): boolean {
  return kind !== 'payment_method'
}

async function rowsOf({ console }: Visit, { data }: Found): Promise<Html> {
  const standingOf = await standingsOf(console.core, data.filter(isPayment))
  const now = console.now()
  return table({
    caption: 'What was found, the surest first',
    columns: ['What', 'Id', 'Found by', 'Status', { title: 'Amount', isNumber: true }, 'For', 'At'],
    rows: data.map((hit) => [
      hit.kind.replace('_', ' '),
      hasPage(hit)
        ? idLink(`${console.path}/${sections[hit.kind]}/${hit.id}`, hit.id)
        : html`<span class="id">${hit.id}</span>`,
      byNames[hit.by],
      ...(isPayment(hit) ? paymentCells(hit, standingOf(hit)) : [nothing, nothing, nothing]),
      time(hit.createdAt, now),
    ]),
    empty: html`Nothing is named so.`,
  })
}

function isPayment(hit: Hit): hit is FoundPayment {
  return 'amount' in hit
}

function paymentCells(hit: FoundPayment, standing: PaymentStanding): readonly Cell[] {
  const { payable } = hit
  return [
    html`${paymentBadge(standing)} ${modeBadge(hit.live)}`,
    amount(hit),
    shown(`${payable.type} ${payable.id}`),
  ]
}

const ranges: Readonly<Record<string, Duration>> = {
  '24h': hours(24),
  '7d': days(7),
  '30d': days(30),
}

/** Stored callbacks that contain a text, of some time. */
export async function searchCallsPage(visit: Visit): Promise<ConsolePage> {
  const { url } = visit
  const text = chosen(url, 'text') ?? ''
  const range = chosenOf(url, 'in', Object.keys(ranges)) ?? '24h'
  const page = { title: 'Inside callbacks', section: 'calls' } as const
  const form = insideForm(url, text, range)
  if (text === '') return { ...page, body: form }
  try {
    return { ...page, body: html`${form} ${await callsWith(visit, text, range)}` }
  } catch (error) {
    if (!isQuittanceError(error) || error.code !== 'query_invalid') throw error
    const fault = html`<p class="fault" role="alert">${shown(error.message)}</p>`
    return { ...page, status: 400, body: html`${form} ${fault}` }
  }
}

function insideForm(url: URL, text: string, range: string): Html {
  return html`<form class="filters" action="${url.pathname}">
    <label>Text <input name="text" maxlength="200" value="${text}" required /></label>
    <label
      >In the last
      <select name="in">
        ${Object.keys(ranges).map(
          (one) => html`<option ${one === range && html`selected`}>${one}</option>`,
        )}
      </select></label
    >
    <button>Search</button>
  </form>`
}

async function callsWith({ console, url }: Visit, text: string, range: string): Promise<Html> {
  const now = console.now()
  const found = await console.core.inspect.callsWith({
    text,
    from: new Date(now.getTime() - (ranges[range] ?? hours(24))),
    limit: pageSize,
    ...given({ cursor: chosen(url, 'cursor') }),
  })
  return html`${table({
      caption: 'Callbacks that contain the text, newest first',
      columns: ['Call', 'State', 'Gateway', 'Payment', 'Received'],
      rows: found.data.map((call) => [
        idLink(`${console.path}/calls/${call.id}`, call.id),
        callBadge(call.state),
        call.gateway,
        call.paymentId === null
          ? nothing
          : idLink(`${console.path}/payments/${call.paymentId}`, call.paymentId),
        time(call.receivedAt, now),
      ]),
      empty:
        found.nextCursor === null
          ? 'No callback of this time contains it. What is masked or encrypted is not searched.'
          : 'None of those that were looked at contains it: look further.',
    })}
    <p class="soft">Looked back to ${time(found.lookedBackTo, now)}.</p>
    ${pager(url, found.nextCursor, 'Look further')}`
}
