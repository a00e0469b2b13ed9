import type {
  DecidedPayment,
  Moment,
  SubscriptionChange,
  SubscriptionState,
} from '../../../src/subscriptions/change.ts'
import { days, hours, minutes, seconds } from '../../../src/kernel/duration.ts'
import { assertNever } from '../../../src/kernel/errors.ts'
import { beginSubscription } from '../../../src/subscriptions/begin-subscription.ts'
import { planAction } from '../../../src/subscriptions/plan-action.ts'
import { takePayment } from '../../../src/subscriptions/take-payment.ts'
import { checkChange } from './check-change.ts'
import type { Dice } from './dice.ts'
import type { Life } from './life.ts'
import { createProvider, type Provider, type Verdict } from './provider.ts'
import { createStore, type Row, type Store } from './store.ts'

/** What can go wrong around one transaction, and what it is followed by. */
export const cuts = [
  'before the commit',
  'commit unknown',
  'after the commit, before sending',
  'sent, not answered',
  'answered, not applied',
] as const

/** A debit that a payment took which could still take money when it did: not the provider's fault. */
export interface Debit {
  readonly paymentId: string
  readonly periodId: string
  readonly isStraight: boolean
}

/** Everything around one subscription: its database, its provider, the time. */
export interface World {
  readonly life: Life
  readonly dice: Dice
  readonly store: Store
  readonly provider: Provider
  readonly debits: Debit[]
  /** Those that can be charged. */
  readonly cards: Set<string>
  cardsMade: number
  /** Cards that were saved with payments on pages. */
  readonly savedCards: Map<string, string>
  readonly queue: { at: number; run: () => void }[]
  /** What happened, for whoever looks for the fault. */
  readonly diary: string[]
  readonly tally: Map<string, number>
  /** True time; that of the database is off by `drift`. */
  time: number
  drift: number
  held: boolean
  /** No worker runs before. */
  downUntil: number
  /** When a worker looks at the subscription next; null: never by itself. */
  wakeAt: number | null
  /** Nothing goes wrong any more. */
  isCalm: boolean
  hasRestored: boolean
  /** Periods of which the provider does not know every attempt. */
  readonly unsure: Set<string>
}

export function createWorld(life: Life, dice: Dice): World {
  const { paymentMethodId } = life.input
  return {
    life,
    dice,
    store: createStore(),
    provider: createProvider(dice),
    debits: [],
    cards: new Set(paymentMethodId === null ? [] : [paymentMethodId]),
    cardsMade: 0,
    savedCards: new Map(),
    queue: [],
    diary: [],
    tally: new Map(),
    time: life.startsAt,
    drift: 0,
    held: false,
    downUntil: 0,
    wakeAt: null,
    isCalm: false,
    hasRestored: false,
    unsure: new Set(),
  }
}

export const momentOf = (world: World): Moment => ({
  now: new Date(world.time + world.drift),
  policy: world.life.policy,
  held: world.held,
})

export function note(world: World, what: string): void {
  world.tally.set(what, (world.tally.get(what) ?? 0) + 1)
  world.diary.push(`${new Date(world.time + world.drift).toISOString()} ${what}`)
}

export function schedule(world: World, after: number, run: () => void): void {
  world.queue.push({ at: world.time + after, run })
}

/** Whether something goes wrong now. */
const isTrouble = ({ isCalm, dice, life }: World): boolean => !isCalm && dice.chance(life.trouble)

/** One transaction with the subscription's row locked: it is written, or nothing has happened. */
export function transact(
  world: World,
  what: string,
  decide: (state: SubscriptionState, moment: Moment) => SubscriptionChange,
): SubscriptionChange {
  const { store, cards } = world
  const state = store.read(cards)
  const moment = momentOf(world)
  const change = decide(state, moment)
  checkChange(state, change, moment)
  store.write(change, world.time)
  diarise(world, what, change)
  setAlarm(world)
  return change
}

function diarise(world: World, what: string, change: SubscriptionChange): void {
  const parts = [
    change.transition && `${change.transition.from} -> ${change.transition.to}`,
    ...change.periods.map(({ number, state }) => `period ${number} ${state}`),
    change.payment && `payment ${change.payment.attempt}`,
    ...change.events.map(({ type }) => type),
    ...change.reviews.map(({ reason }) => `review ${reason}`),
  ].filter((part) => part !== null)
  if (parts.length > 0) note(world, `${what}: ${parts.join(', ')}`)
}

/** Workers come a little late; for what only waits for its payment, not every quarter of an hour. */
export function setAlarm(world: World): void {
  const { store, dice } = world
  const { nextActionAt } = store.subscription()
  if (nextActionAt === null) {
    world.wakeAt = null
    return
  }
  const isWaiting = store.read(world.cards).live !== null || world.held
  const late = isWaiting ? hours(dice.roll() * 12) : seconds(dice.below(30))
  const at = nextActionAt.getTime() - world.drift + late
  world.wakeAt = Math.max(at, world.time + 1, world.downUntil)
}

export function begin(world: World): void {
  const { life, store } = world
  const moment = momentOf(world)
  const change = beginSubscription(life.input, moment)
  store.write(change, world.time)
  diarise(world, 'begin', change)
  setAlarm(world)
  follow(world, change)
}

/** A worker's turn: what is due, with every cut that it can meet. */
export function work(world: World): void {
  const { store, dice } = world
  if (isTrouble(world) && dice.chance(0.2)) {
    note(world, cuts[0])
    world.wakeAt = world.time + minutes(2)
    return
  }
  const change = transact(world, 'step', planAction)
  // Two others think that it is theirs: they come after it, by the row's lock.
  if (isTrouble(world)) {
    for (const rival of [1, 2]) {
      const again = transact(world, `rival ${rival}`, planAction)
      if (change.payment !== null && again.payment !== null) throw new Error('two payments')
      follow(world, again)
    }
  }
  follow(world, change)
  if (store.subscription().status === 'canceled') world.wakeAt = null
}

/** After the commit: its process, and no other, asks the provider. */
export function follow(world: World, { payment, closeCheckout }: SubscriptionChange): void {
  const { store } = world
  if (closeCheckout !== null)
    schedule(world, seconds(1), () => closeAtProvider(world, closeCheckout))
  if (payment === null) return
  const row = store.rows().payments.get(payment.id)
  if (row === undefined) return
  poll(world, row.id, minutes(15))
  if (isTrouble(world)) {
    note(world, world.dice.pick([cuts[1], cuts[2]]))
    world.unsure.add(row.periodId)
    return
  }
  if (row.paymentMethodId !== null) return charge(world, row.id)
  world.unsure.add(row.periodId)
  openPage(world, row.id)
}

function charge(world: World, id: string): void {
  const { provider, life, dice, isCalm } = world
  const mood = isCalm ? { paid: 1, ours: 0 } : life.mood
  const before = provider.debits().size
  const verdict = provider.charge(id, world.time, mood)
  if (provider.debits().size > before) recordDebit(world, id)
  if (verdict.kind === 'ours') world.unsure.add(world.store.rows().payments.get(id)?.periodId ?? '')
  if (verdict.kind === 'needs_payer')
    schedule(world, hours(dice.roll() * 30), () => confirm(world, id))
  if (isTrouble(world)) {
    note(world, dice.pick([cuts[3], cuts[4]]))
    if (dice.chance(0.5)) callback(world, id)
    return
  }
  schedule(world, seconds(dice.below(10)), () => apply(world, id, verdict))
  if (dice.chance(0.3)) callback(world, id)
}

function confirm(world: World, id: string): void {
  const { provider, dice } = world
  const roll = dice.roll()
  if (roll < 0.4 && provider.pay(id, world.time)) recordDebit(world, id)
  else if (roll < 0.7) provider.decline(id)
  else provider.close(id)
  callback(world, id)
}

function openPage(world: World, id: string): void {
  const { provider, dice } = world
  if (!world.isCalm && dice.chance(world.life.mood.ours)) {
    apply(world, id, { kind: 'ours' })
    return
  }
  provider.openPage(id)
  if (dice.chance(0.5)) {
    schedule(world, minutes(dice.roll() * 70), () => {
      if (!provider.pay(id, world.time)) return
      recordDebit(world, id)
      if (dice.chance(0.5)) world.savedCards.set(id, newCard(world))
      callback(world, id)
    })
  }
  // It ends by itself; a payer may be faster than what we hear of that.
  schedule(world, hours(1) + (isTrouble(world) ? days(dice.roll() * 5) : 0), () => {
    provider.close(id)
    callback(world, id)
  })
}

export function newCard(world: World): string {
  world.cardsMade += 1
  const card = `card ${world.cardsMade}`
  world.cards.add(card)
  return card
}

function closeAtProvider(world: World, id: string): void {
  if (isTrouble(world)) return
  world.provider.close(id)
  askNow(world, id)
}

/** The provider calls back: late, more than once. */
function callback(world: World, id: string): void {
  const { dice, provider } = world
  const times = dice.chance(0.2) ? 3 : 1
  for (let time = 0; time < times; time += 1) {
    const late = isTrouble(world) ? days(dice.roll() * 5) : seconds(dice.below(300))
    schedule(world, late, () => {
      const verdict = provider.ask(id)
      if (verdict !== undefined) apply(world, id, verdict)
    })
  }
}

/** Asks the provider until the payment is decided. */
export function poll(world: World, id: string, after: number): void {
  schedule(world, after, () => {
    const row = world.store.rows().payments.get(id)
    if (row?.live !== true) return
    askNow(world, id)
    poll(world, id, Math.min(after * 2, days(1)))
  })
}

function askNow(world: World, id: string): void {
  const row = world.store.rows().payments.get(id)
  if (row?.live !== true) return
  const verdict = world.provider.ask(id)
  if (verdict !== undefined) {
    apply(world, id, verdict)
    return
  }
  // Only after an hour is it believed that a request never came.
  if (world.time - row.madeAt < hours(1)) return
  apply(world, id, { kind: 'canceled' })
  // Some take the money after all.
  if (isTrouble(world))
    schedule(world, days(world.dice.roll() * 40), () => debitAfterAll(world, id))
}

function debitAfterAll(world: World, id: string): void {
  if (!world.provider.debitAfterAll(id, world.time)) return
  note(world, 'a debit after all')
  recordDebit(world, id, { isStraight: false })
  callback(world, id)
}

function recordDebit(world: World, paymentId: string, { isStraight } = { isStraight: true }): void {
  const row = world.store.rows().payments.get(paymentId)
  if (row === undefined) return
  world.debits.push({ paymentId, periodId: row.periodId, isStraight: isStraight && row.live })
}

/** Applies what is said of a payment: it moves once, and its period takes note. */
function apply(world: World, id: string, verdict: Verdict): void {
  const row = world.store.rows().payments.get(id)
  if (row === undefined) return note(world, 'a payment that nobody knows')
  if (isTrouble(world)) {
    // The transaction is lost: it comes again.
    schedule(world, minutes(10), () => apply(world, id, verdict))
    return
  }
  const kind = movedTo(row, verdict)
  if (kind === null) return
  if (kind === 'needs_payer') {
    row.needsPayer = true
    world.store.wake(momentOf(world).now)
    setAlarm(world)
    return
  }
  row.status = kind === 'paid' ? 'paid' : kind === 'declined' ? 'failed' : 'canceled'
  row.live = false
  if (kind !== 'paid' && isTrouble(world)) {
    schedule(world, days(world.dice.roll() * 10), () => debitAfterAll(world, id))
  }
  follow(world, settle(world, row, verdict))
}

/** The state table of payments; null: nothing moves. */
function movedTo(row: Row, { kind }: Verdict): Verdict['kind'] | null {
  if (row.status === 'paid') return null
  if (kind === 'paid') return kind
  if (row.status !== 'pending') return null
  const isPage = row.paymentMethodId === null
  if (kind === 'needs_payer') return isPage || row.needsPayer ? null : kind
  return isPage && kind === 'declined' ? 'canceled' : kind
}

function settle(world: World, row: Row, verdict: Verdict): SubscriptionChange {
  return transact(world, verdict.kind, (state, moment) => {
    const period = world.store.rows().periods.get(row.periodId)
    if (period === undefined) throw new Error('a payment of no period')
    const isPage = row.paymentMethodId === null
    const saved = world.savedCards.get(row.id) ?? null
    const about = { id: row.id, period, isPage, paymentMethodId: row.paymentMethodId ?? saved }
    return takePayment(state, { ...about, ...decidedAs(verdict, isPage) } as DecidedPayment, moment)
  })
}

function decidedAs(verdict: Verdict, isPage: boolean) {
  switch (verdict.kind) {
    case 'paid':
      return { kind: 'paid' }
    case 'declined':
      return isPage ? { kind: 'not_made' } : verdict
    case 'ours':
      return { kind: 'ours', text: 'the key has expired' }
    case 'canceled':
    case 'needs_payer':
      return { kind: 'not_made' }
    default:
      return assertNever(verdict)
  }
}
