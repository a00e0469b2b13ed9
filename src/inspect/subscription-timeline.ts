import { counted } from '../kernel/counted.ts'
import { moneyText } from '../kernel/money.ts'
import type { Payment } from '../payments/payment.ts'
import { standingText, type PaymentStanding } from '../payments/standing.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import type { SubscriptionTransition } from '../subscriptions/subscription.ts'
import type { SubscriptionDetails } from '../wire/subscription-details.ts'

/** One thing that happened to a subscription; the text may hold what a provider said. */
export interface TimelineEntry {
  readonly at: Date
  readonly what: 'period' | 'payment' | 'status' | 'event'
  readonly text: string
  /** The payment, or the event, that it is; undefined: it has no id of its own to look up. */
  readonly id?: string
}

/**
 * What happened to a subscription, in order: periods, charges, statuses with access, events. Of
 * things that happened at the same time, causes come before what followed from them.
 */
export function subscriptionTimeline(
  details: SubscriptionDetails,
  standingOf: (payment: Payment) => PaymentStanding,
): readonly TimelineEntry[] {
  const { periods, payments, transitions, events, deferredEvents } = details
  const entries: readonly TimelineEntry[] = [
    ...periods.map(periodEntry),
    ...payments.map((payment) => chargeEntry(payment, standingOf(payment), periods)),
    ...transitions.map((transition) => statusEntry(transition, details.graceAccess)),
    ...events.map(({ id, createdAt, type }) => eventEntry(createdAt, { id, text: type })),
    ...deferredEvents.map(({ createdAt, type, state, attempts }) =>
      eventEntry(createdAt, { text: `${type}: ${state}, ${counted(attempts, 'failed attempt')}` }),
    ),
  ]
  return entries.toSorted((a, b) => a.at.getTime() - b.at.getTime())
}

function eventEntry(at: Date, rest: Pick<TimelineEntry, 'id' | 'text'>): TimelineEntry {
  return { at, what: 'event', ...rest }
}

function periodEntry(period: SubscriptionPeriod): TimelineEntry {
  const { number, kind, state, startsAt, endsAt, declines, needs } = period
  const skipped = period.skippedPeriods === 0 ? '' : `, ${period.skippedPeriods} skipped before it`
  const failed =
    declines === 0 || state === 'paid'
      ? ''
      : `, declined ${declines === 1 ? 'once' : `${declines} times`}`
  const wanted = state === 'open' && needs !== 'nothing' ? `, needs ${needs}` : ''
  const name = kind === 'paid' ? `${number}` : `${number} (${kind})`
  const text = `${name}  ${days(startsAt)} - ${days(endsAt)}  ${moneyText(period)}  ${state}`
  return { at: startsAt, what: 'period', text: text + failed + wanted + skipped }
}

function chargeEntry(
  payment: Payment,
  standing: PaymentStanding,
  periods: readonly SubscriptionPeriod[],
): TimelineEntry {
  const { id, status, createdAt, paymentMethodId, declineCode, operationError } = payment
  const number = periods.find((period) => period.id === payment.periodId)?.number ?? '?'
  const by = paymentMethodId === null ? 'page' : 'saved card'
  const why = declineCode ?? (status === 'paid' ? null : operationError)
  const said = why === null ? '' : `: ${why}`
  const text = `period ${number}, ${by}  ${moneyText(payment)}  ${standingText(standing)}${said}`
  return { at: createdAt, what: 'payment', id, text }
}

function statusEntry(
  { from, to, reason, at }: SubscriptionTransition,
  grace: boolean,
): TimelineEntry {
  const hasAccess = to === 'active' || to === 'trialing' || (to === 'past_due' && grace)
  const moved = from === null ? to : `${from} -> ${to}`
  return { at, what: 'status', text: `${moved}, ${reason}; ${hasAccess ? 'access' : 'no access'}` }
}

function days(at: Date): string {
  return at.toISOString().slice(0, 10)
}
