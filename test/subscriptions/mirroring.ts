import assert from 'node:assert/strict'
import type {
  Moment,
  SubscriptionChange,
  SubscriptionState,
} from '../../src/subscriptions/change.ts'
import { mirror, type Mirrored } from '../../src/subscriptions/mirror.ts'
import { payManaged } from '../../src/subscriptions/pay-managed.ts'
import type { SubscriptionPeriod } from '../../src/subscriptions/period.ts'
import type { SubscriptionStatement } from '../../src/subscriptions/statement.ts'
import type { Subscription } from '../../src/subscriptions/subscription.ts'
import { policy } from '../support/subscription-context.ts'
import { subscriptionOf } from '../support/subscriptions.ts'
import { monthFrom } from './managing.ts'

export const start = new Date('2026-03-01T12:00:00Z')
export const later = (length: number) => new Date(start.getTime() + length)

/** What has been stored of one that its provider manages. */
export interface Stored {
  subscription: Subscription
  readonly periods: Map<string, SubscriptionPeriod>
  readonly events: { readonly type: string; readonly dedupKey: string }[]
  readonly reviews: Set<string>
  termsBy: 'us' | 'payment' | 'provider'
}

export function store(fields: Partial<Subscription> = {}): Stored {
  const subscription = subscriptionOf({
    managedBy: 'provider',
    providerReference: 'sub_1',
    status: 'incomplete',
    timeZone: 'UTC',
    anchorAt: null,
    paidUntil: null,
    nextActionAt: start,
    createdAt: start,
    ...fields,
  })
  return { subscription, periods: new Map(), events: [], reviews: new Set(), termsBy: 'provider' }
}

export function stateOf({
  subscription,
  periods: known,
  events,
  termsBy,
}: Stored): SubscriptionState {
  const periods = [...known.values()]
  const granted = periods.filter(({ state }) => state === 'paid' || state === 'free')
  const byEnd = granted.toSorted((a, b) => b.endsAt.getTime() - a.endsAt.getTime())
  return {
    subscription,
    open: periods.find(({ state }) => state === 'open') ?? null,
    current: byEnd[0] ?? null,
    live: null,
    lastNumber: Math.max(-1, ...periods.map(({ number }) => number)),
    isCardUsable: false,
    managed: {
      termsBy,
      periods,
      isAnnounced: events.some(({ type }) => type === 'SubscriptionCreated'),
    },
  }
}

/** Writes a change as the database does, and refuses what it refuses. */
export function write(stored: Stored, change: SubscriptionChange): void {
  const before = stored.subscription
  const { subscription } = change
  if (before.endedAt !== null) assert.deepEqual(subscription.endedAt, before.endedAt)
  if (before.paidUntil !== null) {
    assert.ok(subscription.paidUntil !== null && subscription.paidUntil >= before.paidUntil)
  }
  assertTold(stored, change)
  for (const period of change.periods) {
    const known = stored.periods.get(period.id)
    if (known?.state === 'paid') {
      assert.deepEqual([period.state, period.paidPaymentId], ['paid', known.paidPaymentId])
    }
    const sameNumber = [...stored.periods.values()].find(({ number }) => number === period.number)
    assert.ok(sameNumber === undefined || sameNumber.id === period.id, 'a number is used once')
    assert.ok(period.endsAt > period.startsAt)
    stored.periods.set(period.id, period)
  }
  const open = [...stored.periods.values()].filter(({ state }) => state === 'open')
  assert.ok(open.length <= 1, 'one period is open at most')
  for (const event of change.events) {
    assert.ok(!stored.events.some(({ dedupKey }) => dedupKey === event.dedupKey), event.dedupKey)
    stored.events.push(event)
    assert.equal(event.eventNumber, stored.events.length)
  }
  assert.equal(subscription.eventNumber, stored.events.length)
  assert.equal(subscription.nextActionAt === null, subscription.status === 'canceled')
  for (const { reason } of change.reviews) stored.reviews.add(reason)
  stored.subscription = subscription
}

/** Each change of the status, and each grant, has its event, and nothing else has. */
function assertTold({ subscription: before, periods }: Stored, change: SubscriptionChange) {
  const { status: to } = change.subscription
  const { status: from } = before
  const times = (type: string) => change.events.filter((event) => event.type === type).length
  const bought = change.periods.filter(
    ({ id, state }) => state === 'paid' && periods.get(id)?.state !== 'paid',
  )
  assert.equal(times('SubscriptionRenewed'), bought.length)
  assert.equal(times('SubscriptionCancelled'), Number(from !== to && to === 'canceled'))
  assert.equal(times('SubscriptionPaused'), Number(from !== to && to === 'paused'))
  const isResumed = from === 'paused' && to !== 'paused' && to !== 'canceled'
  assert.equal(times('SubscriptionResumed'), Number(isResumed))
}

export const momentAt = (now: Date): Moment => ({ now, policy, held: false })

export function hear(
  stored: Stored,
  statement: SubscriptionStatement,
  now = start,
): Mirrored['disbelief'] {
  const { change, disbelief } = mirror(stateOf(stored), statement, momentAt(now))
  write(stored, change)
  return disbelief
}

/** The charge of the month with this number, by its time. */
export function pay(stored: Stored, month: number, now = start): void {
  const payment = {
    id: `00000000-0000-4000-8000-00000000000${month}`,
    amount: 4_999n,
    currency: 'USD',
    period: null,
    stated: monthOf(month),
    isFirst: month === 0,
    isStanding: false,
    chargedAt: now,
  }
  const bought = payManaged(stateOf(stored), payment, momentAt(now))
  if (bought !== null) write(stored, bought.change)
}

export function monthOf(month: number) {
  const from = new Date(start)
  from.setUTCMonth(from.getUTCMonth() + month)
  return monthFrom(from)
}
