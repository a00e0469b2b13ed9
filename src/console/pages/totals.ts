import { html } from 'hono/html'
import type { CountedMoney } from '../../database/day-totals.ts'
import type { Html } from '../../http/pages/layout.ts'
import type { DayTotals, MoneyTotals } from '../../inspect/totals.ts'
import { dayAfter, dayOf, daysOfMonth } from '../../kernel/day.ts'
import { fieldError } from '../../kernel/errors.ts'
import { amountText } from '../../kernel/money.ts'
import { byteOrderMark, csvRow, modeCell } from '../../wire/csv.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { download } from '../parts/download.ts'
import { type Filter, chosen, filters, withQuery } from '../parts/filters.ts'
import { listed } from '../parts/listed.ts'
import { shown, shownWhole } from '../parts/shown.ts'
import { type Cell, table } from '../parts/table.ts'
import { number } from '../../kernel/figures.ts'
import { amount, badge, balance, modeBadge, nothing, time } from '../parts/values.ts'

const usualDays = 31
/** More are summed, and in the file: nobody reads as far. */
const mostRows = 500

/** What was paid and refunded, by day. */
export async function totalsPage(visit: Visit): Promise<ConsolePage> {
  const { data, fault, status } = await listed(async () => ({
    data: await visit.console.core.inspect.totals(askedDays(visit)),
    nextCursor: null,
  }))
  return {
    status,
    title: 'Totals',
    section: 'totals',
    body: html`${filters(visit.url, fields)} ${fault} ${explanation}
    ${fault === false && bodyOf(visit, data)}`,
  }
}

const explanation = html`<p class="soft">
  What the payments here say, by the day in UTC on which it became known: computed every 15 minutes,
  and not an accounting book. Disputes are counted on the days on which they opened and ended.
</p>`

const fields: readonly Filter[] = [
  { kind: 'text', name: 'month', label: 'Month, like 2026-11' },
  { kind: 'date', name: 'from', label: 'Or from' },
  { kind: 'date', name: 'to', label: 'To' },
]

/** A month, or days; the last 31 if nothing is said. Error: query_invalid. */
export function askedDays({ console, url }: Visit): { readonly from: string; readonly to: string } {
  const month = chosen(url, 'month')
  const [first, last] = [chosen(url, 'from'), chosen(url, 'to')]
  if (month === undefined) {
    const to = last ?? dayOf(console.now())
    return { from: first ?? dayBefore(to), to }
  }
  if (first !== undefined || last !== undefined) {
    throw fieldError('query_invalid', 'month', 'cannot be chosen together with days')
  }
  const days = daysOfMonth(month)
  if (days !== undefined) return days
  throw fieldError('query_invalid', 'month', 'must be a month such as 2026-11')
}

/** What is no day is refused by what reads it. */
function dayBefore(day: string): string {
  return Number.isNaN(Date.parse(`${day}T00:00:00Z`)) ? day : dayAfter(day, 1 - usualDays)
}

interface Row {
  readonly day: DayTotals
  readonly of: MoneyTotals
}

function bodyOf(visit: Visit, days: readonly DayTotals[]): Html {
  const rows = days.flatMap((day) => day.totals.map((of): Row => ({ day, of })))
  const isTodayThere = days.every(({ computedAt, isOver }) => isOver || computedAt !== null)
  const missing = days.filter(isMissing).length
  return html`${!isTodayThere && html`<p class="soft">Today is not added up yet: a worker does it every 15 minutes.</p>`}
  ${missing > 0 && missingBanner(missing)} ${sumsOf(visit, rows)}
  ${rows.length > 0 && downloadLink(visit)} ${daysOf(visit, rows)}
  ${
    rows.length > mostRows &&
    html`<p class="soft">
      These are the newest ${mostRows} of ${rows.length} rows. The sums are of all of them, and so
      is the file.
    </p>`
  }`
}

function missingBanner(days: number): Html {
  const which = days === 1 ? 'One of these days is' : `${days} of these days are`
  return html`<p class="banner">
    ${which} not computed to the end yet: a worker does it every 15 minutes, from an hour after the
    day, and of a long history a part each time.
  </p>`
}

function isMissing({ isOver, isFinal }: DayTotals): boolean {
  return isOver && !isFinal
}

/** Of everything that is shown, and what is beyond it: live money and test money apart. */
function sumsOf(visit: Visit, rows: readonly Row[]): Html {
  if (rows.length === 0) return html``
  const sums = Map.groupBy(rows, ({ of }) => `${of.currency} ${of.live}`)
  const inOrder = [...sums].toSorted(([one], [other]) => one.localeCompare(other))
  const { from, to } = askedDays(visit)
  return html`<h2>${from === to ? from : `${from} to ${to}`}</h2>
    ${table({
      caption: 'Sums of all these days, by currency',
      columns: ['Currency', 'Mode', ...moneyColumns],
      rows: inOrder.map(([, parts]) => sumRow(parts.map(({ of }) => of))),
      empty: '',
    })}
    <h2>By day</h2>`
}

function sumRow(parts: readonly MoneyTotals[]): readonly Cell[] {
  const [first] = parts
  if (first === undefined) return []
  return [first.currency, modeBadge(first.live), ...moneyCells(parts, first.currency)]
}

function downloadLink({ console, url }: Visit): Html {
  const query = withQuery(url, { done: undefined }).slice(url.pathname.length)
  return html`<p class="soft">
    <a class="button" href="${console.path}/totals/export${query}">Download as CSV</a> Who downloads
    what is recorded in the audit.
  </p>`
}

const moneyColumns = [
  { title: 'Paid', isNumber: true },
  { title: 'Refunded', isNumber: true },
  { title: 'Net', isNumber: true },
  'Disputes',
]

function daysOf(visit: Visit, rows: readonly Row[]): Html {
  return table({
    caption: 'Totals by day, newest first',
    columns: ['Day', 'Gateway', 'Account', 'Mode', ...moneyColumns, 'Computed', 'File'],
    rows: rows.slice(0, mostRows).map((row) => dayRow(visit, row)),
    empty: 'Nothing was paid, refunded or disputed in these days.',
  })
}

function dayRow({ console }: Visit, { day: { day, isOver, isFinal, computedAt }, of }: Row) {
  const state = !isFinal && badge(isOver ? 'not final' : 'not over', isOver ? 'warn' : 'plain')
  return [
    html`<time datetime="${day}">${day}</time> ${state}`,
    of.gateway,
    of.merchantAccount === null ? nothing : shown(of.merchantAccount),
    modeBadge(of.live),
    ...moneyCells([of], of.currency),
    time(computedAt, console.now()),
    html`<a href="${console.path}/totals/export?from=${day}&amp;to=${day}"
      >CSV<span class="unseen"> of ${day}</span></a
    >`,
  ]
}

function moneyCells(totals: readonly MoneyTotals[], currency: string): readonly Cell[] {
  const sum = (read: (one: MoneyTotals) => CountedMoney): CountedMoney => ({
    count: totals.reduce((all, one) => all + read(one).count, 0),
    amount: totals.reduce((all, one) => all + read(one).amount, 0n),
  })
  const count = (read: (one: MoneyTotals) => number) =>
    totals.reduce((all, one) => all + read(one), 0)
  const [paid, refunded] = [sum((one) => one.paid), sum((one) => one.refunded)]
  const returned = sum((one) => one.returned)
  return [
    counted(paid, currency),
    html`${counted(refunded, currency)}
    ${returned.count > 0 && html`<br />failed later: ${counted(returned, currency)}`}`,
    balance({ amount: paid.amount - refunded.amount + returned.amount, currency }),
    disputesText([
      [count((one) => one.disputesOpened), 'opened'],
      [count((one) => one.disputesWon), 'won'],
      [count((one) => one.disputesLost), 'lost'],
    ]),
  ]
}

function counted({ count, amount: sum }: CountedMoney, currency: string): Html {
  if (count === 0) return nothing
  return html`${amount({ amount: sum, currency })} <span class="soft">${number(count)}×</span>`
}

function disputesText(counts: readonly (readonly [number, string])[]): Cell {
  const some = counts.filter(([count]) => count > 0)
  return some.length === 0 ? nothing : some.map(([count, what]) => `${count} ${what}`).join(', ')
}

type Line = MoneyTotals & Omit<DayTotals, 'totals'>

/** There is no column of differences: one that begins with a minus would not be a plain number. */
const columns: Readonly<Record<string, (line: Line) => string | number>> = {
  day: ({ day }) => day,
  is_final: ({ isFinal }) => (isFinal ? 'yes' : 'no'),
  computed_at: ({ computedAt }) => computedAt?.toISOString() ?? '',
  gateway: ({ gateway }) => gateway,
  merchant_account: ({ merchantAccount }) => shownWhole(merchantAccount ?? ''),
  mode: ({ live }) => modeCell(live),
  currency: ({ currency }) => currency,
  paid_count: ({ paid }) => paid.count,
  paid: ({ paid, currency }) => amountText({ amount: paid.amount, currency }),
  refunded_count: ({ refunded }) => refunded.count,
  refunded: ({ refunded, currency }) => amountText({ amount: refunded.amount, currency }),
  returned_count: ({ returned }) => returned.count,
  returned: ({ returned, currency }) => amountText({ amount: returned.amount, currency }),
  disputes_opened: ({ disputesOpened }) => disputesOpened,
  disputes_won: ({ disputesWon }) => disputesWon,
  disputes_lost: ({ disputesLost }) => disputesLost,
}

/** The totals of a day, or of several, as a file. */
export async function totalsExport(visit: Visit): Promise<Response> {
  const { console } = visit
  const { from, to } = askedDays(visit)
  // What is wrong with the days is thrown here, before anything is recorded.
  const days = await console.core.inspect.totals({ from, to })
  return download(visit, {
    action: 'exportTotals',
    subject: from === to ? from : `${from}/${to}`,
    detail: {},
    name: `totals-${from === to ? from : `${from}-to-${to}`}.csv`,
    type: 'text/csv; charset=utf-8',
    lines: linesOf(days),
  })
}

async function* linesOf(days: readonly DayTotals[]): AsyncGenerator<string, void> {
  yield byteOrderMark + csvRow(Object.keys(columns))
  for (const { totals, ...day } of days) {
    yield totals.map((one) => lineOf({ ...day, ...one })).join('')
    if (day.computedAt === null) yield csvRow([day.day, '', 'not computed yet'])
  }
}

function lineOf(line: Line): string {
  return csvRow(Object.values(columns).map((read) => String(read(line))))
}
