import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'
import { subscriptionTimeline, type TimelineEntry } from '../../inspect/subscription-timeline.ts'
import type { SubscriptionPeriod } from '../../subscriptions/period.ts'
import type { Payment } from '../../payments/payment.ts'
import type { PaymentStanding } from '../../payments/standing.ts'
import { paymentNoun } from '../../wire/listed-payment.ts'
import { periodNoun, type SubscriptionDetails } from '../../wire/subscription-details.ts'
import { quotaNoun, type QuotaUsage } from '../../wire/usage.ts'
import type { Visit } from '../context.ts'
import { periodBadge } from '../parts/badges.ts'
import { paymentBadge } from '../parts/choices.ts'
import { linkTo } from '../parts/links.ts'
import { nounTable, type Cells } from '../parts/noun.ts'
import { shown } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { nothing, time } from '../parts/values.ts'

/** Of a long history, the library gives no more. */
const mostKept = 100

/** A subscription, and how each of its payments stands. */
export interface Charged {
  readonly found: SubscriptionDetails
  readonly standingOf: (payment: Payment) => PaymentStanding
}

/** What happened to it, oldest first, as the command `subscriptions show` says it. */
export function timelineOf(visit: Visit, { found, standingOf }: Charged): Html {
  const now = visit.console.now()
  const lists = [found.periods, found.payments, found.transitions, found.events]
  const isCut = lists.some(({ length }) => length >= mostKept)
  return html`${isCut && html`<p class="soft">Of each kind, the last ${mostKept}.</p>`}
  ${table({
    caption: 'What happened to it, oldest first',
    columns: ['At', 'What', 'It says', 'Open'],
    rows: subscriptionTimeline(found, standingOf).map((entry) => [
      time(entry.at, now),
      entry.what,
      shown(entry.text),
      entryLink(visit, entry),
    ]),
    empty: 'Nothing has happened yet.',
  })}`
}

function entryLink(visit: Visit, { what, id }: TimelineEntry): Html {
  if (id === undefined) return nothing
  return linkTo(visit, what === 'payment' ? 'payments' : 'events', id)
}

export function periodsOf(visit: Visit, { periods }: SubscriptionDetails): Html {
  const cells: Cells<SubscriptionPeriod> = {
    number: ({ number, kind }) => html`${number} ${kind === 'paid' ? '' : `(${kind})`}`,
    state: ({ state }) => periodBadge(state),
  }
  const empty = 'No period has begun yet.'
  return nounTable(periodNoun, periods.toReversed(), { visit, cells, empty })
}

export function chargesOf(visit: Visit, { found, standingOf }: Charged): Html {
  const { payments, periods } = found
  const cells: Cells<Payment> = {
    status: (payment) => paymentBadge(standingOf(payment)),
    periodId: ({ periodId }) => periods.find(({ id }) => id === periodId)?.number ?? nothing,
    paymentMethodId: ({ paymentMethodId: id }) => (id === null ? 'pay page' : 'saved card'),
  }
  return nounTable(paymentNoun, payments.toReversed(), {
    visit,
    cells,
    columns: ['id', 'status', 'amount', 'periodId', 'paymentMethodId', 'declineCode', 'createdAt'],
    empty: 'Nothing was charged yet.',
  })
}

export function quotasOf(visit: Visit, quotas: readonly QuotaUsage[]): Html {
  const columns = ['quota', 'used', 'limit', 'left', 'every', 'windowEndsAt']
  const caption = 'What is used of its quotas'
  return html`<h2>Quotas</h2>
    ${nounTable(quotaNoun, quotas, { visit, columns, caption, empty: 'It has no quota.' })}`
}
