import { counted } from '../kernel/counted.ts'
import { moneyText } from '../kernel/money.ts'
import type { Payment } from '../payments/payment.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import type { SubscriptionTransition } from '../subscriptions/subscription.ts'
import type { SubscriptionDetails } from '../wire/subscription-details.ts'
import { print, styled, visible } from './output.ts'

interface Entry {
  readonly at: Date
  readonly what: string
  readonly text: string
}

/** What happened to a subscription, in order: periods, charges, statuses with access, events. */
export function printTimeline(details: SubscriptionDetails): void {
  for (const { at, what, text } of timelineOf(details)) {
    print(`${at.toISOString()}  ${styled('bold', what.padEnd(8))}  ${text}`)
  }
}

/** Of things that happened at the same time, causes come before what followed from them. */
function timelineOf(details: SubscriptionDetails): readonly Entry[] {
  const { periods, payments, transitions, events, deferredEvents } = details
  const entries = [
    ...periods.map(periodEntry),
    ...payments.map((payment) => chargeEntry(payment, periods)),
    ...transitions.map((transition) => statusEntry(transition, details.graceAccess)),
    ...events.map(({ createdAt, type }) => ({ at: createdAt, what: 'event', text: type })),
    ...deferredEvents.map(({ createdAt, type, state, attempts }) => ({
      at: createdAt,
      what: 'event',
      text: `${type}: ${state}, ${counted(attempts, 'failed attempt')}`,
    })),
  ]
  return entries.toSorted((a, b) => a.at.getTime() - b.at.getTime())
}

function periodEntry(period: SubscriptionPeriod): Entry {
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

function chargeEntry(payment: Payment, periods: readonly SubscriptionPeriod[]): Entry {
  const { id, status, createdAt, paymentMethodId, declineCode, operationError } = payment
  const number = periods.find((period) => period.id === payment.periodId)?.number ?? '?'
  const by = paymentMethodId === null ? 'page' : 'saved card'
  const why = declineCode ?? (status === 'paid' ? null : operationError)
  const said = why === null ? '' : `: ${why}`
  const text = visible(`${id}  period ${number}, ${by}  ${moneyText(payment)}  ${status}${said}`)
  return { at: createdAt, what: 'payment', text }
}

function statusEntry({ from, to, reason, at }: SubscriptionTransition, grace: boolean): Entry {
  const hasAccess = to === 'active' || to === 'trialing' || (to === 'past_due' && grace)
  const moved = from === null ? to : `${from} -> ${to}`
  return { at, what: 'status', text: `${moved}, ${reason}; ${hasAccess ? 'access' : 'no access'}` }
}

function days(at: Date): string {
  return at.toISOString().slice(0, 10)
}
