import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { days, hours } from '../../src/kernel/duration.ts'
import { hasAccess } from '../../src/subscriptions/access.ts'
import type { SubscriptionStatement } from '../../src/subscriptions/statement.ts'
import { planWithoutAnswer } from '../../src/subscriptions/plan-without-answer.ts'
import { statementOf } from './managing.ts'
import {
  hear,
  later,
  momentAt,
  monthOf,
  pay,
  start,
  stateOf,
  store,
  write,
  type Stored,
} from './mirroring.ts'

/** A trial's time is the period that it is in. */
function trialFrom(startsAt: Date) {
  const trialEndsAt = new Date(startsAt.getTime() + days(14))
  return { trialEndsAt, currentPeriod: { startsAt, endsAt: trialEndsAt } }
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
      ...(isFailing && givenUp && { hasGivenUp: true }),
      ...(isFailing && { failure: { attempt, nextAttemptAt: null, needs: 'nothing' } }),
      ...(status === 'trialing' && trialFrom(time.startsAt)),
      cancelAt: cancels ? time.endsAt : null,
      pauseAt: pauses ? time.endsAt : null,
      ...(inNone && { currentPeriod: null }),
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

/**
 * What may be said last: that it is not paid yet says nothing of one that is; and where what is
 * past due has no period, what was heard before is all that tells what is owed.
 */
const lastWords = statements.filter(
  ({ status, currentPeriod }) =>
    status !== 'incomplete' && (status !== 'past_due' || currentPeriod !== null),
)

/** How it ends, as far as a merchant sees it. */
function endOf(stored: Stored) {
  const { subscription, events, reviews } = stored
  const { status, cancelAt, pauseAt, paidUntil, suspendedAt, endReason } = subscription
  const paid = [...stored.periods.values()]
    .filter(({ state }) => state === 'paid')
    .map(({ startsAt }) => startsAt.getTime())
  const access = hasAccess({ ...subscription, renewable: true }, start)
  const times = (type: string) => events.filter((event) => event.type === type).length
  return {
    status,
    cancelAt,
    pauseAt,
    paidUntil,
    suspendedAt,
    endReason,
    access,
    paid: paid.toSorted((a, b) => a - b),
    reviews: [...reviews].toSorted(),
    created: times('SubscriptionCreated'),
    renewed: times('SubscriptionRenewed'),
    canceled: times('SubscriptionCancelled'),
  }
}

suite('case 5: what a provider says, in whatever order', () => {
  test('each event fires once, whatever is stated and paid in whatever order', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 12 }), fc.boolean(), (life, graceAccess) => {
        const stored = store({ graceAccess })
        for (const step of life) take(stored, step)
        const [first] = stored.events
        assert.ok(first === undefined || first.type === 'SubscriptionCreated')
        const isKnown = stored.subscription.status !== 'incomplete'
        assert.ok(!isKnown || first !== undefined)
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
    const notOver = steps.filter(
      (step) => step.kind === 'payment' || step.statement.status !== 'canceled',
    )
    fc.assert(
      fc.property(inTwoOrders(fc.array(notOver, { maxLength: 8 })), lastWords, (before, last) => {
        const ends = [before.order, before.otherwise].map((order) => {
          const stored = store()
          for (const step of order) take(stored, step)
          const disbelief = hear(stored, last)
          return disbelief === null ? { disbelief, ...endOf(stored) } : { disbelief }
        })
        assert.deepEqual(ends[0], ends[1])
      }),
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
        const everTrialing = life.some(({ status }) => status === 'trialing')
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
    hear(stored, statementOf('sub_1', start, { amount: 0n, isFree: true }))
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
    hear(stored, statementOf('sub_1', start, { amount: 0n, isFree: true }))
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
    write(unpaid, planWithoutAnswer(stateOf(unpaid), silent, momentAt(later(hours(23)))))
    assert.deepEqual(unpaid.subscription.nextActionAt, later(days(1)))
    write(unpaid, planWithoutAnswer(stateOf(unpaid), silent, momentAt(later(days(1)))))
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
    write(paid, planWithoutAnswer(stateOf(paid), failing, momentAt(now)))
    assert.equal(paid.events.at(-1)?.type, 'SubscriptionPeriodEnding')
    assert.equal(paid.subscription.actionError, 'no key')
    assert.deepEqual(paid.subscription.nextActionAt, retryAt)
  })
})
