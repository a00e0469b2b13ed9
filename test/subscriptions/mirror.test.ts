import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { days, hours } from '../../src/kernel/duration.ts'
import { hasAccess } from '../../src/subscriptions/access.ts'
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
import { unheard } from '../../src/subscriptions/unheard.ts'
import { policy } from '../support/subscription-context.ts'
import { subscriptionOf } from '../support/subscriptions.ts'
import { monthFrom, statementOf } from './managing.ts'

const start = new Date('2026-03-01T12:00:00Z')
const later = (length: number) => new Date(start.getTime() + length)

/** What has been stored of one that its provider manages. */
interface Stored {
  subscription: Subscription
  readonly periods: Map<string, SubscriptionPeriod>
  readonly events: { readonly type: string; readonly dedupKey: string }[]
  readonly reviews: Set<string>
  termsBy: 'us' | 'payment' | 'provider'
}

function store(fields: Partial<Subscription> = {}): Stored {
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

function stateOf({ subscription, periods: known, events, termsBy }: Stored): SubscriptionState {
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
function write(stored: Stored, change: SubscriptionChange): void {
  const before = stored.subscription
  const { subscription } = change
  if (before.endedAt !== null) assert.deepEqual(subscription.endedAt, before.endedAt)
  if (before.paidUntil !== null) {
    assert.ok(subscription.paidUntil !== null && subscription.paidUntil >= before.paidUntil)
  }
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

const momentAt = (now: Date): Moment => ({ now, policy, held: false })

function hear(
  stored: Stored,
  statement: SubscriptionStatement,
  now = start,
): Mirrored['disbelief'] {
  const { change, disbelief } = mirror(stateOf(stored), statement, momentAt(now))
  write(stored, change)
  return disbelief
}

/** The charge of the month with this number, by its time. */
function pay(stored: Stored, month: number, now = start): void {
  const payment = {
    id: `00000000-0000-4000-8000-00000000000${month}`,
    amount: 4_999n,
    currency: 'USD',
    period: null,
    stated: monthOf(month),
    isFirst: month === 0,
    chargedAt: now,
  }
  const bought = payManaged(stateOf(stored), payment, momentAt(now))
  if (bought !== null) write(stored, bought.change)
}

function monthOf(month: number) {
  const from = new Date(start)
  from.setUTCMonth(from.getUTCMonth() + month)
  return monthFrom(from)
}

/** What a provider may say of it at all. */
const statements = fc
  .record({
    status: fc.constantFrom('incomplete', 'trialing', 'active', 'past_due', 'paused', 'canceled'),
    month: fc.integer({ min: 0, max: 3 }),
    inNone: fc.boolean(),
    givenUp: fc.boolean(),
    cancels: fc.boolean(),
    pauses: fc.boolean(),
    attempt: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ status, month, inNone, givenUp, cancels, pauses, attempt }) => {
    const time = monthOf(month)
    const isFailing = status === 'past_due'
    return statementOf('sub_1', time.startsAt, {
      status,
      ...(status === 'canceled' && { endedAt: start }),
      ...(inNone && { currentPeriod: null }),
      ...(isFailing && givenUp && { hasGivenUp: true }),
      ...(isFailing && { failure: { attempt, nextAttemptAt: null, needs: 'nothing' } }),
      ...(status === 'trialing' && { trialEndsAt: later(days(14)) }),
      cancelAt: cancels ? time.endsAt : null,
      pauseAt: pauses ? time.endsAt : null,
    })
  })

/** The same values, twice. */
function inTwoOrders<T>(lists: fc.Arbitrary<T[]>) {
  return lists.chain((order) =>
    fc.record({
      order: fc.constant(order),
      otherwise: fc.shuffledSubarray(order, { minLength: order.length }),
    }),
  )
}

type Step =
  | { readonly kind: 'statement'; readonly statement: SubscriptionStatement }
  | { readonly kind: 'payment'; readonly month: number }

const steps: fc.Arbitrary<Step> = fc.oneof(
  statements.map((statement) => ({ kind: 'statement', statement }) as const),
  fc.integer({ min: 0, max: 3 }).map((month) => ({ kind: 'payment', month }) as const),
)

function take(stored: Stored, step: Step): void {
  if (step.kind === 'payment') pay(stored, step.month)
  else hear(stored, step.statement)
}

/** How it ends, as far as a merchant sees it. */
function endOf(stored: Stored) {
  const { status, cancelAt, pauseAt, paidUntil } = stored.subscription
  const paid = [...stored.periods.values()]
    .filter(({ state }) => state === 'paid')
    .map(({ startsAt }) => startsAt.getTime())
  return { status, cancelAt, pauseAt, paidUntil, paid: paid.toSorted((a, b) => a - b) }
}

suite('case 5: what a provider says, in whatever order', () => {
  test('each event fires once, whatever is stated and paid in whatever order', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 12 }), fc.boolean(), (life, graceAccess) => {
        const stored = store({ graceAccess })
        for (const step of life) take(stored, step)
      }),
      { numRuns: 2_000 },
    )
  })

  test('what is stated or paid again changes nothing', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 8 }), steps, (life, last) => {
        const stored = store()
        for (const step of life) take(stored, step)
        take(stored, last)
        const before = structuredClone({ ...stored, periods: [...stored.periods] })
        take(stored, last)
        assert.deepEqual({ ...stored, periods: [...stored.periods] }, before)
      }),
      { numRuns: 2_000 },
    )
  })

  test('the last word decides: the same end in every order of what came before it', () => {
    const notOver = statements.filter(({ status }) => status !== 'canceled')
    fc.assert(
      fc.property(
        fc.record({
          said: inTwoOrders(fc.array(notOver, { maxLength: 5 })),
          months: inTwoOrders(fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { minLength: 1 })),
          paysFirst: fc.boolean(),
          // That it is not paid yet says nothing of one that is.
          last: statements.filter(({ status }) => status !== 'incomplete'),
        }),
        ({ said, months, paysFirst, last }) => {
          const one = store()
          for (const statement of said.order) hear(one, statement)
          for (const month of months.order) pay(one, month)
          const other = store()
          if (paysFirst) for (const month of months.otherwise) pay(other, month)
          for (const statement of said.otherwise) hear(other, statement)
          if (!paysFirst) for (const month of months.otherwise) pay(other, month)
          const isBelieved = hear(one, last) === null
          fc.pre((hear(other, last) === null) === isBelieved && isBelieved)
          assert.deepEqual(endOf(one), endOf(other))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('a statement alone grants nothing that costs anything, and never gives first access', () => {
    fc.assert(
      fc.property(fc.array(statements, { maxLength: 8 }), (life) => {
        const stored = store()
        for (const statement of life) hear(stored, statement)
        const granted = [...stored.periods.values()].filter(({ state }) => state === 'paid')
        assert.deepEqual(granted, [])
        assert.equal(stored.subscription.paidUntil, null)
        assert.ok(!stored.events.some(({ type }) => type === 'SubscriptionRenewed'))
        const everTrialing = life.some(({ status }) => status === 'trialing' || status === 'paused')
        const access = hasAccess({ ...stored.subscription, renewable: true }, start)
        assert.ok(everTrialing || !access)
      }),
      { numRuns: 1_000 },
    )
  })
})

suite('what a statement is worth', () => {
  test('a period that costs nothing is granted without a payment', () => {
    const stored = store({ amount: 0n })
    hear(stored, statementOf('sub_1', start, { amount: 0n }))
    assert.equal(stored.subscription.status, 'active')
    assert.deepEqual(
      stored.events.map(({ type }) => type),
      ['SubscriptionCreated', 'SubscriptionRenewed'],
    )
  })

  test('one that was made here and is stated with other terms is shown to a person, and keeps them', () => {
    const stored = store()
    stored.termsBy = 'us'
    hear(stored, statementOf('sub_1', start, { amount: 100n }))
    assert.deepEqual([...stored.reviews], ['terms_mismatch'])
    stored.reviews.clear()
    assert.equal(stored.subscription.amount, 4_999n)
    hear(stored, statementOf('sub_1', start, { every: { unit: 'year', count: 1 } }))
    assert.deepEqual([...stored.reviews], ['terms_mismatch'])
    hear(stored, statementOf('sub_1', start, { amount: 0n }))
    assert.equal(stored.subscription.status, 'incomplete')
  })

  test('its provider is asked an hour after a boundary, daily while it is unpaid, else weekly', () => {
    const stored = store()
    hear(stored, statementOf('sub_1', start))
    assert.deepEqual(stored.subscription.nextActionAt, later(hours(1)))
    hear(stored, statementOf('sub_1', start), later(hours(2)))
    assert.deepEqual(stored.subscription.nextActionAt, later(days(1) + hours(2)))
    pay(stored, 0)
    hear(stored, statementOf('sub_1', start))
    assert.deepEqual(stored.subscription.nextActionAt, later(days(7)))
    const near = later(days(5))
    hear(stored, statementOf('sub_1', start, { cancelAt: near }))
    assert.deepEqual(stored.subscription.nextActionAt, later(days(5) + hours(1)))
    const disbelief = hear(stored, statementOf('sub_1', start, { status: 'past_due' }))
    assert.equal(disbelief, 'period_paid')
    assert.deepEqual(stored.subscription.nextActionAt, later(hours(1)))
  })

  test('one that rests for what it owes owes nothing more while its provider counts on', () => {
    const stored = store()
    hear(stored, statementOf('sub_1', monthOf(3).startsAt, { status: 'incomplete' }))
    pay(stored, 1)
    const owing = statementOf('sub_1', monthOf(2).startsAt, {
      status: 'past_due',
      hasGivenUp: true,
    })
    hear(stored, owing)
    assert.equal(stored.subscription.status, 'paused')
    const before = [...stored.periods.values()]
    hear(stored, owing)
    hear(
      stored,
      statementOf('sub_1', monthOf(4).startsAt, { status: 'past_due', hasGivenUp: true }),
    )
    assert.deepEqual([...stored.periods.values()], before)
  })

  test('a renewal found late goes to its own period, and ends nothing later', () => {
    const stored = store()
    pay(stored, 0)
    pay(stored, 2)
    pay(stored, 1)
    assert.equal(stored.periods.size, 3)
    assert.deepEqual(stored.subscription.paidUntil, monthOf(2).endsAt)
    assert.deepEqual(stateOf(stored).current?.endsAt, monthOf(2).endsAt)
  })

  test('a provider that does not answer delays no notice and no end', () => {
    const unpaid = store({ providerReference: null })
    const silent = { error: null, retryAt: later(days(1)) }
    write(unpaid, unheard(stateOf(unpaid), silent, momentAt(later(hours(23)))))
    assert.deepEqual(unpaid.subscription.nextActionAt, later(days(1)))
    write(unpaid, unheard(stateOf(unpaid), silent, momentAt(later(days(1)))))
    assert.deepEqual(
      [unpaid.subscription.status, unpaid.subscription.endReason],
      ['canceled', 'incomplete'],
    )
    const paid = store()
    hear(paid, statementOf('sub_1', start))
    pay(paid, 0)
    const now = new Date(monthOf(0).endsAt.getTime() - days(3))
    const retryAt = new Date(now.getTime() + hours(1))
    const failing = { error: 'no key', retryAt }
    write(paid, unheard(stateOf(paid), failing, momentAt(now)))
    assert.equal(paid.events.at(-1)?.type, 'SubscriptionPeriodEnding')
    assert.equal(paid.subscription.actionError, 'no key')
    assert.deepEqual(paid.subscription.nextActionAt, retryAt)
  })
})
