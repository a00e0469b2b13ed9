import assert from 'node:assert/strict'
import { days, hours, minutes } from '../../../src/kernel/duration.ts'
import { hasAccess } from '../../../src/subscriptions/access.ts'
import { cancelSubscription } from '../../../src/subscriptions/cancel-subscription.ts'
import { changeSubscription } from '../../../src/subscriptions/change-subscription.ts'
import type { Moment, SubscriptionState, WishResult } from '../../../src/subscriptions/change.ts'
import { pauseSubscription } from '../../../src/subscriptions/pause-subscription.ts'
import type { SubscriptionPeriod } from '../../../src/subscriptions/period.ts'
import { payPeriod } from '../../../src/subscriptions/pay-period.ts'
import { resumeSubscription } from '../../../src/subscriptions/resume-subscription.ts'
import { useCard } from '../../../src/subscriptions/use-card.ts'
import { diceOf, type Dice } from './dice.ts'
import { lifeOf } from './life.ts'
import {
  begin,
  createWorld,
  follow,
  momentOf,
  newCard,
  note,
  poll,
  schedule,
  setAlarm,
  transact,
  work,
  type World,
} from './world.ts'

/** Plays some years of a subscription, and throws with its diary where something does not hold. */
export function playYears(seed: number): World {
  const dice = diceOf(seed)
  const world = createWorld(lifeOf(seed, dice), dice)
  try {
    begin(world)
    scheduleFate(world)
    run(world, world.life.endsAt)
    calmDown(world)
    checkEnd(world)
    return world
  } catch (cause) {
    const diary = world.diary.slice(-40).join('\n')
    throw new Error(`seed ${seed}: ${(cause as Error).message}\n${diary}`, { cause })
  }
}

function run(world: World, until: number): void {
  for (let steps = 0; ; steps += 1) {
    assert.ok(steps < 100_000, 'it comes to rest')
    const first = world.queue.reduce<number>(
      (best, { at }, index) => (best < 0 || at < (world.queue[best]?.at ?? 0) ? index : best),
      -1,
    )
    const next = world.queue[first]
    const { wakeAt } = world
    const isWorkers = wakeAt !== null && (next === undefined || wakeAt <= next.at)
    const at = isWorkers ? wakeAt : next?.at
    if (at === undefined || at > until) break
    world.time = Math.max(world.time, at)
    if (isWorkers) {
      work(world)
    } else {
      world.queue.splice(first, 1)
      next?.run()
    }
    if (steps % 16 === 0) checkRows(world)
  }
  world.time = until
}

/** What happens to it, about so often in its life. */
function scheduleFate(world: World): void {
  const { life, dice } = world
  const length = life.endsAt - life.startsAt
  const fate = (count: number, happen: () => void) => {
    for (let index = 0; index < count; index += 1) {
      schedule(world, dice.roll() * length, happen)
    }
  }
  fate(Math.round(life.wishes * 12), () => wish(world))
  // Where it matters most: around the first days.
  if (dice.chance(life.wishes)) schedule(world, days(dice.roll() * 3), () => wish(world))
  if (life.trouble === 0) return
  fate(2, () => goDown(world))
  fate(2, () => jump(world))
  fate(2, () => hold(world))
  fate(2, () => loseCard(world))
  if (life.hasRestores) fate(2, () => takeDump(world))
}

type Wish = (state: SubscriptionState, moment: Moment, dice: Dice) => WishResult

const wishes: readonly [Wish, ...Wish[]] = [
  (state, moment) => cancelSubscription(state, { at: 'period_end' }, moment),
  (state, moment, dice) =>
    dice.chance(0.3)
      ? cancelSubscription(state, { at: 'now' }, moment)
      : resumeSubscription(state, moment),
  (state, moment, dice) => {
    const until = dice.chance(0.5) ? new Date(moment.now.getTime() + days(dice.roll() * 90)) : null
    return pauseSubscription(state, { at: dice.pick(['now', 'period_end']), until }, moment)
  },
  (state, moment) => resumeSubscription(state, moment),
  (state, moment) => resumeSubscription(state, moment),
  (state, moment) => payPeriod(state, moment),
  (state, moment) => payPeriod(state, moment),
  (state, moment, dice) =>
    changeSubscription(
      state,
      {
        plan: dice.pick(['basic', 'pro']),
        amount: dice.pick([500n, 900n, 0n]),
        every: dice.pick([state.subscription.every, { unit: 'month', count: 2 }]),
      },
      moment,
    ),
  (state, moment, dice) => {
    const trialEndsAt = new Date(moment.now.getTime() + days(dice.roll() * 20 - 3))
    return changeSubscription(state, { trialEndsAt }, moment)
  },
]

/** Somebody wishes something, often just before or after a boundary. */
function wish(world: World): void {
  const { dice, store } = world
  if (dice.chance(0.4) && world.wakeAt !== null) {
    const soon = Math.max(0, world.wakeAt - world.time)
    schedule(world, soon + dice.below(120_000) - Math.min(soon, 60_000), () => makeWish(world))
    return
  }
  if (store.subscription().status !== 'canceled') makeWish(world)
}

function makeWish(world: World): void {
  const { dice } = world
  if (dice.chance(0.25)) {
    const card = newCard(world)
    transact(world, 'wish useCard', (state, moment) => useCard(state, card, moment))
    return
  }
  const wanted = dice.pick(wishes)
  const result = wanted(world.store.read(world.cards), momentOf(world), dice)
  if (result.kind === 'refused') return note(world, `refused ${result.reason}`)
  follow(
    world,
    transact(world, `wish ${wishes.indexOf(wanted)}`, () => result.change),
  )
}

function goDown(world: World): void {
  if (world.isCalm) return
  world.downUntil = world.time + days(world.dice.pick([0.1, 1, 7, 70, 400]) * world.dice.roll())
  note(world, `down until ${new Date(world.downUntil).toISOString()}`)
  setAlarm(world)
}

/** The database's clock is wrong for a while: where both are, nobody can tell. */
function jump(world: World): void {
  if (world.isCalm) return
  const { dice } = world
  world.drift = dice.pick([-1, 1]) * days(dice.pick([0.01, 1, 30, 365]) * dice.roll())
  world.held ||= dice.chance(0.8)
  note(world, `the clock is off by ${(world.drift / days(1)).toFixed(2)} days`)
  setAlarm(world)
  schedule(world, hours(dice.roll() * 48), () => {
    world.drift = 0
    world.held = false
    setAlarm(world)
  })
}

function hold(world: World): void {
  if (world.isCalm) return
  note(world, 'hold')
  world.held = true
  schedule(world, days(world.dice.pick([0.1, 3, 50]) * world.dice.roll()), () => {
    world.held = false
    note(world, 'release')
    setAlarm(world)
  })
}

function loseCard(world: World): void {
  const { paymentMethodId } = world.store.subscription()
  if (world.isCalm || paymentMethodId === null) return
  note(world, 'the card is removed')
  world.cards.delete(paymentMethodId)
}

/** A dump that is restored some days later: our side forgets, the provider does not. */
function takeDump(world: World): void {
  if (world.isCalm) return
  const { store, dice } = world
  const dump = store.dump()
  schedule(world, days(dice.roll() * 10), () => {
    if (world.isCalm) return
    note(world, 'the dump is restored')
    world.hasRestored = true
    store.restore(dump)
    for (const row of store.rows().payments.values()) {
      if (row.live) poll(world, row.id, minutes(15))
    }
    setAlarm(world)
  })
}

/** Everything works again: it must end well. */
function calmDown(world: World): void {
  world.isCalm = true
  Object.assign(world, { drift: 0, held: false, downUntil: 0 })
  const { store } = world
  store.wake(momentOf(world).now)
  setAlarm(world)
  run(world, world.time + days(60))
  if (store.subscription().status === 'canceled') return
  const card = newCard(world)
  transact(world, 'calm card', (state, moment) => useCard(state, card, moment))
  run(world, world.time + days(60))
  // What is being charged at the end is waited for.
  while (store.read(world.cards).live !== null) run(world, world.time + minutes(20))
}

function checkEnd(world: World): void {
  checkRows(world)
  const { store, cards } = world
  const state = store.read(cards)
  const { subscription } = state
  const moment = momentOf(world)
  const { status, paidUntil, nextActionAt } = subscription
  const lateness = nextActionAt === null ? 0 : moment.now.getTime() - nextActionAt.getTime()
  assert.ok(lateness < minutes(1), 'what is due is done')
  if (status === 'active') {
    const paidFor = (paidUntil?.getTime() ?? 0) - moment.now.getTime()
    assert.ok(paidFor > -minutes(1), 'who is active has paid')
    assert.ok(hasAccess({ ...subscription, renewable: true }, moment.now))
  } else {
    const isDone = status === 'canceled' || status === 'paused' || status === 'trialing'
    assert.ok(isDone, `all is decided: ${status}`)
    if (status === 'trialing') assert.ok((subscription.trialEndsAt ?? 0) > moment.now)
  }
  checkMoney(world)
}

/** Granted is paid, and paid is granted, or somebody looks at it. */
function checkRows({ store }: World): void {
  const { periods, payments, reviews } = store.rows()
  for (const period of periods.values()) {
    if (period.state !== 'paid' || period.amount === 0n) continue
    const payment = payments.get(period.paidPaymentId ?? '')
    assert.equal(payment?.status, 'paid', 'a period is granted for money')
    assert.equal(payment.periodId, period.id)
  }
  for (const payment of payments.values()) {
    if (payment.status !== 'paid') continue
    const isGranted = periods.get(payment.periodId)?.paidPaymentId === payment.id
    const isReviewed = reviews.some(({ paymentId }) => paymentId === payment.id)
    assert.ok(isGranted !== isReviewed, 'money grants a period, or is reviewed')
  }
}

/** Each debit is known, and a period is debited twice only where a provider took back its word. */
function checkMoney({ store, provider, debits, hasRestored, unsure }: World): void {
  const { payments, periods } = store.rows()
  for (const id of provider.debits().keys()) {
    const payment = payments.get(id)
    assert.ok(hasRestored || payment?.status === 'paid', 'no debit is lost')
  }
  // After a restore an attempt is made anew by its name: no help where the provider has not kept it.
  const isProvable = (periodId: string) => !hasRestored || !unsure.has(periodId)
  const straight = debits
    .filter(({ isStraight, periodId }) => isStraight && isProvable(periodId))
    .map(({ periodId }) => periodId)
  assert.equal(new Set(straight).size, straight.length, 'a period is debited once')
  const granted = [...periods.values()].filter(({ state }) => state === 'paid')
  granted.sort((one, other) => one.number - other.number)
  for (const [index, period] of granted.entries()) {
    const before = granted[index - 1]
    if (before) checkNeighbours(before, period)
  }
}

/** Paid time follows paid time, but for what was skipped; after a pause it begins anew. */
function checkNeighbours(before: SubscriptionPeriod, period: SubscriptionPeriod): void {
  if (period.statusBefore === 'paused') return
  assert.ok(before.endsAt <= period.startsAt, 'no time is paid twice')
  if (period.skippedPeriods > 0) return
  assert.deepEqual(period.startsAt, before.endsAt, 'no time is lost')
}
