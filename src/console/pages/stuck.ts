import { html } from 'hono/html'
import { standingsOf } from '../../billing/standings-of.ts'
import type { Html } from '../../http/pages/layout.ts'
import { stuckKinds, type StuckKind } from '../../database/stuck-payments.ts'
import type { Visit } from '../context.ts'
import { paymentBadge } from '../parts/choices.ts'
import { chosen, pager, pageSize } from '../parts/filters.ts'
import type { Filter } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { shown } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { ago, amount, idLink, modeBadge } from '../parts/values.ts'
import { stuckWords } from '../words/problems.ts'

const stuckNames: Readonly<Record<StuckKind, string>> = {
  checkout_unknown: 'checkout unknown',
  poll_overdue: 'poll overdue',
  refund_pending: 'refund under way',
  dispute_open: 'dispute open',
}

export const stuckChoice: Filter = {
  kind: 'choice',
  name: 'stuck',
  label: 'Stuck',
  options: stuckKinds.map((kind) => [kind, stuckNames[kind]]),
}

/** Money that is stuck, the longest first. */
export async function stuckList({ console, url }: Visit, stuck: StuckKind): Promise<Html> {
  const { data, nextCursor } = await console.core.inspect.stuck({
    stuck,
    limit: pageSize,
    ...given({ cursor: chosen(url, 'cursor') }),
  })
  const standingOf = await standingsOf(
    console.core,
    data.map(({ payment }) => payment),
  )
  const now = console.now()
  return html`<p>These are ${stuckWords[stuck]}; the longest first.</p>
    ${table({
      caption: 'Stuck payments, the longest first',
      columns: [
        'Payment',
        'Status',
        { title: 'Amount', isNumber: true },
        'Mode',
        'Gateway',
        'For',
        'Since',
      ],
      rows: data.map(({ payment, since }) => [
        idLink(`${console.path}/payments/${payment.id}`, payment.id),
        paymentBadge(standingOf(payment)),
        amount(payment),
        modeBadge(payment.live),
        payment.gateway,
        shown(`${payment.payable.type} ${payment.payable.id}`),
        ago(since, now),
      ]),
      empty: 'None is.',
    })}
    ${pager(url, nextCursor)}`
}
