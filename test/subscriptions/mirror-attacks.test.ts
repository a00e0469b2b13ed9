import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from '../../src/gateways/body/parse-json.ts'
import { isJsonObject } from '../../src/gateways/body/json.ts'
import { statementOf as stripeStatement } from '../../src/gateways/stripe/read-subscription.ts'
import { days, hours } from '../../src/kernel/duration.ts'
import { hasAccess } from '../../src/subscriptions/access.ts'
import { payManaged } from '../../src/subscriptions/pay-managed.ts'
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

const week = { unit: 'week', count: 1 } as const
const year = { unit: 'year', count: 1 } as const
const declined = { attempt: 1, nextAttemptAt: null, needs: 'new_card' } as const

const accessAt = ({ subscription }: Stored, now: Date) =>
  hasAccess({ ...subscription, renewable: true }, now)
const typesOf = ({ events }: Stored) => events.map(({ type }) => type)
const count = (stored: Stored, type: string) => typesOf(stored).filter((one) => one === type).length

/** A charge after the first, of this time. */
function charge(stored: Stored, stated: { readonly startsAt: Date; readonly endsAt: Date }): void {
  const payment = {
    id: '00000000-0000-4000-8000-000000000011',
    amount: 4_999n,
    currency: 'USD',
    period: null,
    isFirst: false,
    isStanding: false,
    chargedAt: stated.startsAt,
    stated,
  }
  const bought = payManaged(stateOf(stored), payment, momentAt(stated.startsAt))
  assert.ok(bought, 'it buys a period')
  write(stored, bought.change)
}

/** A month that is paid, which its payer makes a year five hours later. */
function madeYear(): {
  readonly stored: Stored
  readonly now: Date
  readonly time: { readonly startsAt: Date; readonly endsAt: Date }
} {
  const stored = store()
  hear(stored, statementOf('sub_1', start))
  pay(stored, 0)
  const now = later(hours(5))
  return { stored, now, time: { startsAt: now, endsAt: later(days(365) + hours(5)) } }
}

test('a month that is made a year on its first day stays a month while the year is not paid', () => {
  const { stored, now, time } = madeYear()
  const { paidUntil } = stored.subscription
  const stated = {
    status: 'past_due',
    every: year,
    currentPeriod: time,
    failure: declined,
  } as const
  assert.equal(hear(stored, statementOf('sub_1', now, stated), now), null)
  assert.deepEqual(stored.subscription.paidUntil, paidUntil)
  assert.equal(stored.subscription.status, 'past_due')
  assert.equal(count(stored, 'SubscriptionPaymentFailed'), 1)
})

test('a month that is made a year on its first day is a year once that is paid', () => {
  const { stored, time } = madeYear()
  charge(stored, time)
  assert.deepEqual([...stored.reviews], [])
  assert.equal(count(stored, 'SubscriptionRenewed'), 2)
  assert.deepEqual(stored.subscription.paidUntil, time.endsAt)
})

test('an end that its provider moves on, its start left as it was, is more of what is paid', () => {
  const stored = store()
  hear(stored, statementOf('sub_1', start))
  pay(stored, 0)
  const given = { startsAt: start, endsAt: later(days(60)) }
  hear(stored, statementOf('sub_1', start, { currentPeriod: given }))
  assert.deepEqual(stored.subscription.paidUntil, given.endsAt)
  assert.equal(stored.periods.size, 1)
})

/** A trial as long as a period, which is cut short five hours after it has begun. */
function cutShort(): {
  readonly stored: Stored
  readonly now: Date
  readonly first: { readonly startsAt: Date; readonly endsAt: Date }
} {
  const stored = store({ every: week })
  const trial = { startsAt: start, endsAt: later(days(7)) }
  const trialing = {
    status: 'trialing',
    every: week,
    trialEndsAt: trial.endsAt,
    currentPeriod: trial,
  } as const
  hear(stored, statementOf('sub_1', start, trialing))
  const now = later(hours(5))
  return { stored, now, first: { startsAt: now, endsAt: later(hours(5) + days(7)) } }
}

for (const isPaidFirst of [true, false]) {
  const order = isPaidFirst ? 'before' : 'after'
  test(`a trial cut short on its first day is followed by what is paid, told ${order} that`, () => {
    const { stored, now, first } = cutShort()
    const active = statementOf('sub_1', now, {
      every: week,
      trialEndsAt: now,
      currentPeriod: first,
    })
    if (isPaidFirst) charge(stored, first)
    hear(stored, active, now)
    if (!isPaidFirst) charge(stored, first)
    const { status, paidUntil } = stored.subscription
    assert.deepEqual([status, paidUntil], ['active', first.endsAt])
    assert.deepEqual(typesOf(stored), ['SubscriptionCreated', 'TrialEnded', 'SubscriptionRenewed'])
  })
}

test('the declined first charge of a trial cut short on its first day is believed', () => {
  const { stored, now, first } = cutShort()
  const owing = { status: 'past_due', every: week, trialEndsAt: now, currentPeriod: first } as const
  assert.equal(hear(stored, statementOf('sub_1', now, owing), now), null)
  assert.equal(stored.subscription.status, 'past_due')
})

test('what was paused and is past due again in the same period is owed anew, and cuts access', () => {
  const stored = store({ graceAccess: false })
  hear(stored, statementOf('sub_1', start))
  pay(stored, 0)
  const { startsAt } = monthOf(1)
  const owing = statementOf('sub_1', startsAt, { status: 'past_due' })
  const paused = statementOf('sub_1', startsAt, { status: 'paused', currentPeriod: null })
  for (const stated of [owing, paused, owing, owing]) hear(stored, stated, startsAt)
  assert.equal(stored.subscription.status, 'past_due')
  assert.equal(accessAt(stored, startsAt), false)
  assert.equal(count(stored, 'SubscriptionPaymentFailed'), 2)
  pay(stored, 1, startsAt)
  assert.equal(accessAt(stored, startsAt), true)
  assert.deepEqual(stored.subscription.paidUntil, monthOf(1).endsAt)
})

for (const isSuspendedBefore of [false, true]) {
  const from = isSuspendedBefore ? 'from past due' : 'at once'
  test(`a provider that gives up ${from} suspends what has no grace, and is told of once`, () => {
    const stored = store({ graceAccess: false })
    hear(stored, statementOf('sub_1', start))
    pay(stored, 0)
    const { startsAt } = monthOf(1)
    const retried = { attempt: 1, nextAttemptAt: monthOf(2).startsAt, needs: 'nothing' } as const
    const owing = statementOf('sub_1', startsAt, { status: 'past_due', failure: retried })
    if (isSuspendedBefore) hear(stored, owing, startsAt)
    const failure = { attempt: 4, nextAttemptAt: null, needs: 'nothing' } as const
    for (const month of [1, 2, 3]) {
      const time = monthOf(month).startsAt
      const fields = { status: 'past_due', hasGivenUp: true, failure } as const
      hear(stored, statementOf('sub_1', time, fields), time)
    }
    assert.equal(stored.subscription.status, 'past_due')
    assert.equal(accessAt(stored, startsAt), false)
    assert.deepEqual(typesOf(stored).slice(2), [
      'SubscriptionPaymentFailed',
      'SubscriptionAccessSuspended',
    ])
    const open = [...stored.periods.values()].filter(({ state }) => state === 'open')
    assert.deepEqual(
      open.map(({ startsAt: at, declines, nextAttemptAt }) => [at, declines, nextAttemptAt]),
      [[startsAt, 4, null]],
    )
  })
}

test('what goes on after a pause or an unpaid trial, and was never paid, waits for its first payment', () => {
  const never = store()
  hear(never, statementOf('sub_1', start, { status: 'paused', currentPeriod: null }))
  hear(never, statementOf('sub_1', start))
  assert.equal(never.subscription.status, 'incomplete')
  assert.equal(accessAt(never, start), false)
  pay(never, 0)
  assert.equal(never.subscription.status, 'active')

  const trial = store()
  const trialEndsAt = later(days(14))
  const time = { startsAt: start, endsAt: trialEndsAt }
  hear(trial, statementOf('sub_1', start, { status: 'trialing', trialEndsAt, currentPeriod: time }))
  const owing = { status: 'past_due', trialEndsAt, failure: declined } as const
  hear(trial, statementOf('sub_1', trialEndsAt, owing), trialEndsAt)
  hear(trial, statementOf('sub_1', trialEndsAt, { trialEndsAt }), trialEndsAt)
  assert.deepEqual([trial.subscription.status, trial.subscription.paidUntil], ['trialing', null])
})

test('a trial that is stated to have been earlier is that one', () => {
  const stored = store()
  for (const month of [1, 0]) {
    const { startsAt } = monthOf(month)
    const trialEndsAt = new Date(startsAt.getTime() + days(14))
    const currentPeriod = { startsAt, endsAt: trialEndsAt }
    hear(stored, statementOf('sub_1', startsAt, { status: 'trialing', trialEndsAt, currentPeriod }))
  }
  const given = [...stored.periods.values()].filter(({ kind }) => kind === 'trial')
  assert.deepEqual(
    given.map(({ startsAt, endsAt }) => [startsAt, endsAt]),
    [[start, later(days(14))]],
  )
})

/** What Stripe answers of one with this price, in the second month. */
function stripeAnswer(price: object): SubscriptionStatement {
  const { startsAt, endsAt } = monthOf(1)
  const seconds = (time: Date) => time.getTime() / 1000
  const item = {
    quantity: 3,
    current_period_start: seconds(startsAt),
    current_period_end: seconds(endsAt),
    price: {
      currency: 'usd',
      billing_scheme: 'per_unit',
      recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
      ...price,
    },
  }
  const subscription = {
    id: 'sub_1',
    status: 'active',
    currency: 'usd',
    metadata: {},
    items: { data: [item] },
  }
  const parsed = parseJson(JSON.stringify(subscription))
  assert.ok(parsed.ok && isJsonObject(parsed.value))
  const statement = stripeStatement(parsed.value, { failure: null, live: true, account: undefined })
  assert.ok(statement)
  return statement
}

for (const [what, price, isGranted] of [
  ['a price of 0', { unit_amount: 0 }, true],
  ['tiers', { billing_scheme: 'tiered', unit_amount: null }, false],
  [
    'packages of a price of 0',
    { unit_amount: 0, transform_quantity: { divide_by: 5, round: 'up' } },
    false,
  ],
  ['a price in another currency', { currency: 'eur', unit_amount: 0 }, false],
] as const) {
  test(`a period with ${what} is ${isGranted ? '' : 'not '}granted without a payment`, () => {
    const stored = store()
    hear(stored, statementOf('sub_1', start))
    pay(stored, 0)
    const { startsAt, endsAt } = monthOf(1)
    hear(stored, stripeAnswer(price), startsAt)
    assert.deepEqual(stored.subscription.paidUntil, isGranted ? endsAt : monthOf(0).endsAt)
    if (isGranted) return
    pay(stored, 1, startsAt)
    assert.deepEqual([...stored.reviews], [])
    assert.deepEqual(stored.subscription.paidUntil, endsAt)
  })
}

test('one that has ended is not asked for again, although a question was about to be put', () => {
  const stored = store()
  hear(stored, statementOf('sub_1', start, { status: 'canceled', endedAt: start }))
  const silence = { error: null, retryAt: later(days(1)) }
  const { subscription } = planWithoutAnswer(stateOf(stored), silence, momentAt(start))
  assert.equal(subscription.nextActionAt, null)
})

test('what was charged before a trial that is cut short buys nothing that is owed after it', () => {
  const { stored, now, first } = cutShort()
  const owing = { status: 'past_due', every: week, trialEndsAt: now, currentPeriod: first } as const
  hear(stored, statementOf('sub_1', now, owing), now)
  const beginning = {
    id: '00000000-0000-4000-8000-000000000012',
    amount: 4_999n,
    currency: 'USD',
    period: null,
    isFirst: true,
    isStanding: false,
    chargedAt: start,
    stated: {},
  }
  const state = stateOf(stored)
  assert.equal(payManaged(state, beginning, momentAt(now)), null)
})
