/** What each charge of a provider's buys, whatever is known of its time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import type { StatedPeriod } from '../../src/payments/outcome.ts'
import { newPeriod } from '../../src/subscriptions/open-period.ts'
import { payManaged } from '../../src/subscriptions/pay-managed.ts'
import { monthFrom, statementOf } from './managing.ts'
import { hear, later, momentAt, start, stateOf, store, write, type Stored } from './mirroring.ts'

type Sale = Required<StatedPeriod>

const yearFrom = (startsAt: Date): Sale => {
  const endsAt = new Date(startsAt)
  endsAt.setUTCFullYear(endsAt.getUTCFullYear() + 1)
  return { startsAt, endsAt }
}

interface Charge {
  readonly id: number
  readonly stated?: StatedPeriod
  readonly amount?: bigint
  readonly isFirst?: boolean
  readonly isStanding?: boolean
  readonly at: Date
}

function charge(stored: Stored, { id, at, stated = {}, ...given }: Charge): boolean {
  const payment = {
    id: `00000000-0000-4000-8000-${id.toString().padStart(12, '0')}`,
    amount: 4_999n,
    currency: 'USD',
    isFirst: false,
    isStanding: false,
    period: null,
    stated,
    chargedAt: at,
    ...given,
  }
  const bought = payManaged(stateOf(stored), payment, momentAt(at))
  if (bought !== null) write(stored, bought.change)
  return bought !== null
}

/** One that was made here: its first period waits for its checkout. */
function made(): Stored {
  const stored = store()
  stored.termsBy = 'us'
  const open = newPeriod(stored.subscription, { number: 1, ...monthFrom(start) })
  stored.periods.set(open.id, open)
  return stored
}

const ofMoney = ({ reviews }: Stored) =>
  [...reviews].filter((reason) => reason.startsWith('period_'))

const shown = ({ periods }: Stored) =>
  [...periods.values()]
    .filter(({ state }) => state !== 'void')
    .toSorted((a, b) => a.startsAt.getTime() - b.startsAt.getTime())
    .map(({ state, startsAt, endsAt }) => ({ state, startsAt, endsAt }))

const paid = (sale: Sale) => ({ state: 'paid', ...sale })

for (const by of ['statement', 'charge'] as const) {
  test(`a first period that is paid without a time gets it from its ${by}`, () => {
    const stored = made()
    charge(stored, { id: 1, isFirst: true, at: later(hours(3)) })
    const sale = monthFrom(later(hours(2)))
    assert.deepEqual(shown(stored), [paid(monthFrom(later(hours(3))))])
    if (by === 'charge') charge(stored, { id: 1, isFirst: true, stated: sale, at: later(days(1)) })
    else hear(stored, statementOf('sub_1', sale.startsAt), later(days(1)))
    assert.deepEqual(shown(stored), [paid(sale)])
    // From now on it is the time of a sale.
    charge(stored, { id: 1, isFirst: true, stated: monthFrom(start), at: later(days(2)) })
    hear(stored, statementOf('sub_1', later(-days(1))), later(days(2)))
    assert.deepEqual(shown(stored)[0], paid(sale))
  })
}

for (const [what, stated] of [
  ['of a sale that begins later', monthFrom(later(hours(4)))],
  ['of another length', yearFrom(later(hours(2)))],
  ['of a later period', monthFrom(later(days(3)))],
] as const) {
  test(`a first period without a time does not take that ${what}`, () => {
    const stored = made()
    const heardAt = later(what === 'of a later period' ? days(4) : hours(3))
    charge(stored, { id: 1, isFirst: true, at: heardAt })
    hear(stored, statementOf('sub_1', start, { currentPeriod: stated }), later(days(5)))
    const first = shown(stored).find(({ state }) => state === 'paid')
    assert.deepEqual(first, paid(monthFrom(heardAt)))
  })
}

test('a charge that repeats a sale whose time was assumed is shown once the time is known', () => {
  const stored = made()
  const sale = monthFrom(start)
  charge(stored, { id: 1, isFirst: true, at: later(hours(3)) })
  charge(stored, { id: 2, stated: sale, at: later(days(1)) })
  assert.deepEqual(ofMoney(stored), [])
  charge(stored, { id: 1, isFirst: true, stated: sale, at: later(days(2)) })
  assert.deepEqual(ofMoney(stored), ['period_paid_twice'])
})

test('of unpaid periods a charge without a time takes the one that it was made in, not a later one', () => {
  const stored = made()
  const [one, two, three] = [start, later(days(31)), later(days(62))].map(monthFrom)
  assert.ok(one && two && three)
  charge(stored, { id: 1, isFirst: true, stated: one, at: start })
  const failure = { attempt: 1, nextAttemptAt: null, needs: 'nothing' } as const
  const declined = { status: 'past_due', failure } as const
  hear(
    stored,
    statementOf('sub_1', two.startsAt, { ...declined, currentPeriod: two }),
    two.startsAt,
  )
  hear(
    stored,
    statementOf('sub_1', three.startsAt, { ...declined, currentPeriod: three }),
    three.startsAt,
  )
  charge(stored, { id: 2, at: two.startsAt })
  charge(stored, { id: 3, stated: three, at: three.startsAt })
  assert.deepEqual(shown(stored), [paid(one), paid(two), paid(three)])
  assert.deepEqual(ofMoney(stored), [])
})

test('a charge without a time pays for the open period until its last moment', () => {
  const stored = made()
  charge(stored, { id: 1, isFirst: true, stated: monthFrom(start), at: start })
  const two = monthFrom(monthFrom(start).endsAt)
  hear(stored, statementOf('sub_1', two.startsAt, { currentPeriod: two }), two.startsAt)
  charge(stored, { id: 2, isStanding: true, at: new Date(two.endsAt.getTime() - 1) })
  assert.deepEqual(shown(stored), [paid(monthFrom(start)), paid(two)])
})

for (const [what, before, after, amount] of [
  ['a month made a year', monthFrom, yearFrom, 49_990n],
  ['a year made a month', yearFrom, monthFrom, 4_999n],
  ['a month made a dearer one', monthFrom, monthFrom, 9_999n],
] as const) {
  for (const length of [minutes(2), hours(5)]) {
    for (const order of ['charge first', 'statement first'] as const) {
      test(`${what} after ${length / 60_000} minutes is a sale of its own, ${order}`, () => {
        const stored = made()
        const [one, other] = [before(start), after(later(length))]
        charge(stored, { id: 1, isFirst: true, stated: one, amount: 1_000n, at: start })
        const fields = { currentPeriod: other, amount }
        const now = later(length + hours(1))
        const buy = () => charge(stored, { id: 2, stated: other, amount, at: now })
        const state = () => hear(stored, statementOf('sub_1', other.startsAt, fields), now)
        if (order === 'charge first') buy()
        state()
        buy()
        state()
        assert.deepEqual(shown(stored), [paid(one), paid(other)])
        assert.deepEqual(ofMoney(stored), [])
      })
    }
  }
}

test('a second charge for the same sale is paid twice, also where its end was moved', () => {
  const stored = made()
  const sale = monthFrom(start)
  charge(stored, { id: 1, isFirst: true, stated: sale, at: start })
  const moved = { startsAt: start, endsAt: later(days(45)) }
  hear(stored, statementOf('sub_1', start, { currentPeriod: moved }))
  charge(stored, { id: 2, stated: sale, amount: 1n, at: later(days(1)) })
  assert.deepEqual(shown(stored), [paid(moved)])
  assert.deepEqual(ofMoney(stored), ['period_paid_twice'])
})

for (const [what, stated] of [
  ['no time', {}],
  ['its start alone', { startsAt: later(days(10)) }],
  ['a time that ends as it begins', { startsAt: later(days(3)), endsAt: later(days(3)) }],
] as const) {
  test(`a charge that states ${what} and buys nothing is shown once it is known how all stands`, () => {
    const stored = made()
    charge(stored, { id: 1, isFirst: true, stated: monthFrom(start), at: start })
    const at = later(days(11))
    assert.ok(!charge(stored, { id: 2, stated, at }))
    hear(stored, statementOf('sub_1', start), at)
    assert.ok(!charge(stored, { id: 2, stated, amount: 0n, isStanding: true, at }))
    assert.deepEqual(ofMoney(stored), [])
    assert.ok(charge(stored, { id: 2, stated, isStanding: true, at }))
    assert.deepEqual(ofMoney(stored), ['period_paid_twice'])
    assert.deepEqual(shown(stored), [paid(monthFrom(start))])
  })
}

test('a charge without a time that comes after the end is shown at once', () => {
  const stored = made()
  charge(stored, { id: 1, isFirst: true, stated: monthFrom(start), at: start })
  const endedAt = monthFrom(start).endsAt
  hear(stored, statementOf('sub_1', start, { status: 'canceled', endedAt }), endedAt)
  assert.ok(charge(stored, { id: 2, at: endedAt }))
  assert.deepEqual(ofMoney(stored), ['period_void'])
  const unbegun = store({ status: 'canceled', endedAt: start, endReason: 'provider' })
  assert.ok(
    charge(
      { ...unbegun, subscription: { ...unbegun.subscription, nextActionAt: null } },
      {
        id: 2,
        at: endedAt,
      },
    ),
  )
})

test('what a checkout has taken before a trial is nobody’s to look at', () => {
  const stored = store()
  const trialEndsAt = later(days(14))
  const currentPeriod = { startsAt: start, endsAt: trialEndsAt }
  hear(stored, statementOf('sub_1', start, { status: 'trialing', trialEndsAt, currentPeriod }))
  assert.ok(!charge(stored, { id: 1, isFirst: true, isStanding: true, at: start }))
})

test('what was declined is not owed any more once a later period is paid', () => {
  const stored = made()
  const [one, two, three] = [start, later(days(31)), later(days(62))].map(monthFrom)
  assert.ok(one && two && three)
  charge(stored, { id: 1, isFirst: true, stated: one, at: start })
  const failure = { attempt: 1, nextAttemptAt: null, needs: 'nothing' } as const
  const declined = { status: 'past_due', failure, currentPeriod: two } as const
  hear(stored, statementOf('sub_1', two.startsAt, declined), two.startsAt)
  charge(stored, { id: 3, stated: three, at: three.startsAt })
  hear(stored, statementOf('sub_1', three.startsAt, { currentPeriod: three }), three.startsAt)
  assert.deepEqual(shown(stored), [paid(one), paid(three)])
  assert.equal(stored.subscription.status, 'active')
})
