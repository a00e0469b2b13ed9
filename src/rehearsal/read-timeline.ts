import type { Kysely } from 'kysely'
import { listEvents } from '../database/events.ts'
import type { Page } from '../database/page.ts'
import { listPaymentsOfPeriods, listPeriods } from '../database/subscription-periods.ts'
import { findSubscription, listSubscriptionTransitions } from '../database/subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import { isSubscriptionEventType, readPlannedEvent } from '../events/event-data.ts'
import type { EventRecord } from '../events/event-record.ts'
import { QuittanceError, assertNever } from '../kernel/errors.ts'
import { moneyText } from '../kernel/money.ts'
import type { Payment } from '../payments/payment.ts'
import type { PlannedEvent, SubscriptionEventType } from '../subscriptions/events.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import type { SubscriptionTransition } from '../subscriptions/subscription.ts'

/** What happened to a subscription at a time. */
export interface TimelineEntry {
  readonly at: Date
  /**
   * - `charge`: a saved card was charged, `page`: the payer was sent to a page, with how it ended;
   * - `free`: time that costs nothing;
   * - `status`, `access`: what it is from then on;
   * - `event`: its type, as listeners get it.
   */
  readonly kind: 'charge' | 'page' | 'free' | 'status' | 'event' | 'access'
  readonly text: string
  /** What a listener may want to write to the customer; null: nothing. */
  readonly mail: string | null
}

/** What happened to a subscription, in order. */
export interface Timeline {
  readonly entries: readonly TimelineEntry[]
  /** The same as text, a line an entry; times in UTC. */
  readonly text: string
}

/** Whether it gave access, as it changed. */
export interface AccessChange {
  readonly at: Date
  readonly access: boolean
}

/** Everything that happened to a subscription, in order. Error: `subscription_not_found`. */
export async function readTimeline(
  db: Kysely<Tables>,
  id: string,
  accessChanges: readonly AccessChange[],
): Promise<readonly TimelineEntry[]> {
  if ((await findSubscription(db, id)) === undefined) {
    throw new QuittanceError('subscription_not_found', `there is no subscription ${id}`)
  }
  const ofIt = { subscriptionId: id, limit: 100 }
  const periods = await allPages((cursor) => listPeriods(db, { ...ofIt, ...cursor }))
  const events = await allPages((cursor) => listEvents(db, { ...ofIt, ...cursor }))
  const payments = await listPaymentsOfPeriods(db, periods)
  const periodOf = new Map(periods.map((period) => [period.id, period]))
  const statuses = await listSubscriptionTransitions(db, id)
  const [made, ...moves] = statuses.map(statusEntry)
  const entries = [
    ...(made === undefined ? [] : [made]),
    ...periods.toReversed().filter(isFree).map(freeEntry),
    ...payments.map((payment) => paymentEntry(payment, periodOf.get(payment.periodId ?? ''))),
    ...moves,
    ...events.toReversed().map(eventEntry),
    ...accessChanges.map(accessEntry),
  ]
  // Of the same time, causes come before what follows from them.
  return entries.toSorted((one, other) => one.at.getTime() - other.at.getTime())
}

export async function allPages<T>(
  list: (cursor: { readonly cursor?: string }) => Promise<Page<T>>,
): Promise<readonly T[]> {
  const found: T[] = []
  let cursor: string | null = null
  do {
    const page: Page<T> = await list(cursor === null ? {} : { cursor })
    found.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null)
  return found
}

function isFree({ state, amount }: SubscriptionPeriod): boolean {
  return state === 'free' || (state === 'paid' && amount === 0n)
}

function freeEntry(period: SubscriptionPeriod): TimelineEntry {
  const { kind, number } = period
  const name =
    kind === 'trial' ? 'trial' : kind === 'brought' ? 'paid elsewhere' : `period ${number}`
  return { at: period.startsAt, kind: 'free', text: `${name}, ${spanOf(period)}`, mail: null }
}

function paymentEntry(payment: Payment, period: SubscriptionPeriod | undefined): TimelineEntry {
  const span = period === undefined ? '' : ` for ${spanOf(period)}`
  const skipped = period?.skippedPeriods ?? 0
  const note = skipped === 0 ? '' : `; ${skipped} before it skipped`
  return {
    at: payment.createdAt,
    kind: payment.paymentMethodId === null ? 'page' : 'charge',
    text: `${moneyText(payment)}${span}: ${howItEnded(payment)}${note}`,
    mail: null,
  }
}

function howItEnded(payment: Payment): string {
  const { status, declineCode, checkout, operationError, createdAt, updatedAt } = payment
  const isConfirmed = payment.paymentMethodId !== null && payment.checkoutUrl !== null
  switch (status) {
    case 'paid':
      return updatedAt > createdAt ? `paid on ${shown(updatedAt)}` : 'paid'
    case 'failed':
      return declineCode === null ? 'declined' : `declined, ${declineCode}`
    case 'canceled':
      if (checkout === 'refused') return `our fault, ${operationError ?? 'refused'}`
      if (payment.paymentMethodId === null) return 'not paid'
      return isConfirmed ? 'not confirmed' : 'no answer, and not charged'
    case 'pending':
      if (checkout === 'unknown') return 'no answer yet'
      return isConfirmed ? 'to be confirmed' : 'waits for the payer'
    default:
      return assertNever(status)
  }
}

function statusEntry({ from, to, reason, at }: SubscriptionTransition): TimelineEntry {
  const text = from === null ? to : `${from} -> ${to} (${reason})`
  return { at, kind: 'status', text, mail: null }
}

function eventEntry({ createdAt: at, type, data }: EventRecord): TimelineEntry {
  const mail = isSubscriptionEventType(type) ? suggestMail(readPlannedEvent(type, data)) : null
  return { at, kind: 'event', text: type, mail }
}

function accessEntry({ at, access }: AccessChange): TimelineEntry {
  return { at, kind: 'access', text: access ? 'yes' : 'no', mail: null }
}

function spanOf({ startsAt, endsAt }: SubscriptionPeriod): string {
  const isWhole = [startsAt, endsAt].every((time) => time.getTime() % 86_400_000 === 0)
  const text = (time: Date) => (isWhole ? time.toISOString().slice(0, 10) : shown(time))
  return `${text(startsAt)} - ${text(endsAt)}`
}

function shown(time: Date): string {
  return time.toISOString().slice(0, 16).replace('T', ' ')
}

export function timelineText(entries: readonly TimelineEntry[]): string {
  const lines = entries.map(({ at, kind, text, mail }, index) => {
    const time = shown(at)
    const before = entries[index - 1]
    const isSame = before !== undefined && shown(before.at) === time
    const said = mail === null ? text : `${text.padEnd(longestType)}  mail: ${mail}`
    return `${isSame ? ' '.repeat(time.length) : time}  ${kind.padEnd(6)}  ${said}`
  })
  return lines.join('\n')
}

const longestType = 'SubscriptionAccessSuspended'.length

type DataOf<Type extends SubscriptionEventType> = Extract<
  PlannedEvent,
  { readonly type: Type }
>['data']

/** What a merchant may want to write to the customer at an event; null: nothing. */
function suggestMail({ type, data }: PlannedEvent): string | null {
  const suggest = mails[type] as ((data: PlannedEvent['data']) => string | null) | undefined
  return suggest?.(data) ?? null
}

/** What comes with the others says it better: a receipt, a trial, the end. */
const mails: {
  readonly [Type in SubscriptionEventType]?: (data: DataOf<Type>) => string | null
} = {
  SubscriptionRenewed: ({ previousStatus }) => renewalMails[previousStatus] ?? 'a receipt',
  SubscriptionPaymentFailed: failureMail,
  SubscriptionAccessSuspended: () => 'there is no access until it is paid',
  SubscriptionCancelled: ({ reason }) => endMails[reason],
  SubscriptionPaused: ({ reason, resumesAt }) => {
    if (reason === 'payment_failed') return 'it is paused, for it was not paid'
    return resumesAt === null ? 'it is paused' : `it is paused until ${day(resumesAt)}`
  },
  SubscriptionResumed: () => 'it goes on',
  TrialWillEnd: ({ endsAt, renews }) => {
    const then = renews ? 'then the card is charged' : 'put in a card to go on'
    return `the trial ends on ${day(endsAt)}; ${then}`
  },
  SubscriptionPeriodEnding: ({ endsAt, renews }) =>
    renews ? `it renews on ${day(endsAt)}` : `what is paid ends on ${day(endsAt)}`,
  UsageLimitReached: ({ quota, percent }) => `${percent} % of ${quota} is used`,
}

const renewalMails: Readonly<Record<string, string>> = {
  incomplete: 'welcome, with a receipt',
  trialing: 'thank you for staying, with a receipt',
  past_due: 'all is well again, with a receipt',
}

const endMails = {
  requested: 'it has ended, as you wished',
  payment_failed: 'it has ended, for it was not paid',
  trial_ended: 'the trial is over',
  incomplete: null,
  provider: 'it has ended',
} as const

function failureMail({ needs, nextAttemptAt }: DataOf<'SubscriptionPaymentFailed'>): string {
  const next = nextAttemptAt === null ? '' : `; we try again on ${day(nextAttemptAt)}`
  if (needs === 'new_card') return 'the card cannot be charged: put in another one (pay page)'
  if (needs === 'confirmation') return `confirm the payment (pay page)${next}`
  return `the card was declined${next}, or pay now (pay page)`
}

function day(time: Date): string {
  return time.toISOString().slice(0, 10)
}
