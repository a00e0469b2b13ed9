import assert from 'node:assert/strict'
import type {
  LivePayment,
  PeriodReview,
  SubscriptionChange,
  SubscriptionEvent,
  SubscriptionState,
} from '../../../src/subscriptions/change.ts'
import type { SubscriptionPeriod } from '../../../src/subscriptions/period.ts'
import type { Subscription } from '../../../src/subscriptions/subscription.ts'

/** A payment's row, as far as subscriptions read it. */
export interface Row {
  readonly id: string
  readonly periodId: string
  readonly paymentMethodId: string | null
  readonly madeAt: number
  status: 'pending' | 'paid' | 'failed' | 'canceled'
  /** It can still take money, as far as we know. */
  live: boolean
  needsPayer: boolean
}

interface Rows {
  subscription: Subscription | null
  readonly periods: Map<string, SubscriptionPeriod>
  readonly payments: Map<string, Row>
  readonly events: SubscriptionEvent[]
  readonly reviews: PeriodReview[]
}

/** A database of one subscription, in memory, with the unique keys of the real one. */
export interface Store {
  readonly rows: () => Rows
  readonly subscription: () => Subscription
  /** As it stands under the lock, with the cards that can be charged. */
  readonly read: (cards: ReadonlySet<string>) => SubscriptionState
  readonly write: (change: SubscriptionChange, madeAt: number) => void
  /** Something has happened that a step has to see. */
  readonly wake: (now: Date) => void
  readonly dump: () => Rows
  readonly restore: (dump: Rows) => void
}

export function createStore(): Store {
  let rows: Rows = {
    subscription: null,
    periods: new Map(),
    payments: new Map(),
    events: [],
    reviews: [],
  }
  const subscription = () => {
    assert.ok(rows.subscription)
    return rows.subscription
  }
  return {
    rows: () => rows,
    subscription,
    read: (cards) => readState(rows, subscription(), cards),
    write(change, madeAt) {
      writeChange(rows, change, madeAt)
      rows.subscription = change.subscription
    },
    wake(now) {
      rows.subscription = { ...subscription(), nextActionAt: now }
    },
    dump: () => copy(rows),
    restore(dump) {
      rows = copy(dump)
    },
  }
}

function copy(rows: Rows): Rows {
  return {
    subscription: rows.subscription,
    periods: new Map(rows.periods),
    payments: new Map([...rows.payments].map(([id, row]) => [id, { ...row }])),
    events: [...rows.events],
    reviews: [...rows.reviews],
  }
}

function readState(
  rows: Rows,
  subscription: Subscription,
  cards: ReadonlySet<string>,
): SubscriptionState {
  const periods = [...rows.periods.values()]
  const open = periods.find(({ state }) => state === 'open') ?? null
  const { paymentMethodId } = subscription
  return {
    subscription,
    open,
    current: latestOf(periods.filter(({ state }) => state === 'paid' || state === 'free')),
    live: open && liveOf(rows, open.id),
    lastNumber: latestOf(periods)?.number ?? -1,
    isCardUsable: paymentMethodId !== null && cards.has(paymentMethodId),
  }
}

function latestOf(periods: readonly SubscriptionPeriod[]): SubscriptionPeriod | null {
  return periods.reduce<SubscriptionPeriod | null>(
    (latest, period) => (latest !== null && latest.number > period.number ? latest : period),
    null,
  )
}

function liveOf(rows: Rows, periodId: string): LivePayment | null {
  for (const row of rows.payments.values()) {
    if (row.periodId !== periodId || !row.live) continue
    const isPage = row.paymentMethodId === null
    return { id: row.id, periodId, isPage, needsPayer: row.needsPayer, expiresAt: null }
  }
  return null
}

function writeChange(rows: Rows, change: SubscriptionChange, madeAt: number): void {
  const { periods, payment, events, reviews } = change
  for (const period of periods) writePeriod(rows, period)
  const open = [...rows.periods.values()].filter(({ state }) => state === 'open')
  assert.ok(open.length <= 1, 'one open period')
  if (payment !== null) {
    assert.ok(!rows.payments.has(payment.id), 'a payment is made once')
    assert.equal(liveOf(rows, payment.periodId), null, 'one live payment of a period')
    rows.payments.set(payment.id, {
      id: payment.id,
      periodId: payment.periodId,
      paymentMethodId: payment.paymentMethodId,
      madeAt,
      status: 'pending',
      live: true,
      needsPayer: false,
    })
  }
  for (const event of events) {
    assert.ok(!rows.events.some(({ dedupKey }) => dedupKey === event.dedupKey), event.dedupKey)
    rows.events.push(event)
    assert.equal(event.eventNumber, rows.events.length, 'event numbers have no gaps')
  }
  assert.equal(change.subscription.eventNumber, rows.events.length)
  for (const review of reviews) {
    if (review.reason === 'terms_mismatch') throw new Error('no provider has stated terms')
    const isKnown = rows.reviews.some(
      ({ paymentId, reason }) => paymentId === review.paymentId && reason === review.reason,
    )
    if (!isKnown) rows.reviews.push(review)
  }
}

function writePeriod(rows: Rows, period: SubscriptionPeriod): void {
  const known = rows.periods.get(period.id)
  if (known === undefined) {
    const isUsed = [...rows.periods.values()].some(({ number }) => number === period.number)
    assert.ok(!isUsed, `one period of number ${period.number}`)
  } else {
    assert.equal(known.number, period.number)
    assert.ok(known.state === 'open' || known.state === period.state, 'a closed period stays so')
  }
  assert.ok(period.endsAt > period.startsAt)
  rows.periods.set(period.id, period)
}
