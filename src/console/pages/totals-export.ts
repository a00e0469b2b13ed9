import type { DayTotals, MoneyTotals } from '../../inspect/totals.ts'
import { amountText } from '../../kernel/money.ts'
import { byteOrderMark, csvRow, modeCell } from '../../wire/csv.ts'
import type { Visit } from '../context.ts'
import { download } from '../parts/download.ts'
import { shownWhole } from '../parts/shown.ts'
import { askedDays } from './totals.ts'

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
