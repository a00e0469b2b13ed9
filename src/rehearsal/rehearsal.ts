import { sql } from 'kysely'
import { coreOf } from '../billing/create-core.ts'
import type { BillingOptions } from '../billing/options.ts'
import { type Runtime, createRuntime } from '../billing/runtime.ts'
import type { BillingCore } from '../billing/types.ts'
import { muchPatience } from '../database/patience.ts'
import { fake } from '../gateways/fake/index.ts'
import { type StillClock, createStillClock } from '../kernel/clock.ts'
import { type Duration, days, hours, minutes } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { newUuid } from '../kernel/ids.ts'
import type { MoneyContext } from '../money/context.ts'
import type { Payment } from '../payments/payment.ts'
import { boundary } from '../subscriptions/boundary.ts'
import { readInterval } from '../subscriptions/interval.ts'
import type { ListedSubscription } from '../wire/subscription.ts'
import { type Play, createPlay } from './play-due.ts'
import {
  type AccessChange,
  type Timeline,
  allPages,
  readTimeline,
  timelineText,
} from './read-timeline.ts'
import {
  type CardBehavior,
  type CardScripts,
  type WhichCharges,
  scriptCards,
} from './script-cards.ts'

/** A saved card of the rehearsal. */
export interface RehearsalCard {
  /** The `paymentMethodId` of subscriptions that are charged by it. */
  readonly id: string
  /** How its charges end from now on, or some of them: `card.behaves('soft', { times: 2 })`. */
  behaves(behavior: CardBehavior, charges?: WhichCharges): void
}

/**
 * Subscriptions on a clock that stands still until it is advanced: months in a second. Its
 * database is in memory, its provider is the gateway `fake`, and nothing runs by itself.
 */
export interface RehearsalPlay extends AsyncDisposable {
  /** The time that everything lives by, the database too. */
  now(): Date
  /**
   * Lets so much time go by (`35 days`, `2 months`), or all until that time. Whatever falls due is
   * done at its own time: charges, retries, polls, ends, notices, listeners.
   */
  advance(by: string | Date): Promise<void>
  /** So much time goes by in which nothing runs; then what is due is done. */
  downtime(length: string): Promise<void>
  /** Does what is due by now, such as the events of what was just asked for. */
  catchUp(): Promise<void>
  /** A saved card, as if the customer had paid with it before. */
  saveCard(options?: { readonly behaves?: CardBehavior }): Promise<RehearsalCard>
  /**
   * The payer pays what is owed: on the page that is open, or opens one; or confirms the charge that
   * waits for that (3-D Secure). A page saves a card, which is charged from then on. The card that
   * the subscription has then. Errors: those of `billing.subscriptions.pay`.
   */
  payPage(id: string, options?: { readonly behaves?: CardBehavior }): Promise<RehearsalCard>
  /** The payer tries to pay there, and the card is declined. */
  declinePage(id: string): Promise<void>
  /** What happened to the subscription. Error: `subscription_not_found`. */
  timeline(id: string): Promise<Timeline>
  close(): Promise<void>
}

export interface StartedRehearsal {
  readonly runtime: Runtime
  readonly clock: StillClock
  readonly cards: CardScripts
}

/** The parts of a rehearsal that has not begun: listeners may be registered. */
export function prepareRehearsal(options: BillingOptions, startsAt: Date): StartedRehearsal {
  const clock = createStillClock(startsAt)
  const cards = scriptCards()
  const { gateways } = cards
  const own = {
    ...options,
    // Never the real one, nor any provider.
    database: { memory: true },
    gateways: { [fake.name]: { enabled: 'on' } },
    extraGateways: [],
    environment: {},
    production: false,
    billing: {
      ...options.billing,
      queue: { ...options.billing?.queue, connection: 'database' as const },
    },
  }
  return { runtime: createRuntime(own, { clock, gateways, patience: muchPatience }), clock, cards }
}

/** Opens the database. The first one of a process takes some seconds. */
export async function beginRehearsal(
  started: StartedRehearsal,
  core: BillingCore = coreOf(started.runtime),
): Promise<RehearsalPlay> {
  await core.start()
  const { clock } = started
  const begun: Begun = { ...started, core, access: new Map(), played: undefined }
  const catchUp = () => playDue(begun)
  const close = () => core.close()
  return {
    now: clock.now,
    advance: async (by) => {
      const until = typeof by === 'string' ? endOf(by, clock.now()) : by
      await advanceTo(begun, until)
    },
    downtime: async (length) => {
      await catchUp()
      await standStill(begun, endOf(length, clock.now()))
      await catchUp()
    },
    catchUp,
    saveCard: ({ behaves = 'paid' } = {}) => saveCard(begun, behaves),
    payPage: (id, { behaves } = {}) => payPage(begun, id, behaves),
    declinePage: async (id) => {
      await answerPage(begun, await pageOf(begun, id), { result: 'failure' })
    },
    timeline: async (id) => {
      const { database } = await started.runtime.opened()
      const entries = await readTimeline(database.db, id, begun.access.get(id) ?? [])
      return { entries, text: timelineText(entries) }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Begun extends StartedRehearsal {
  readonly core: BillingCore
  /** By subscription. */
  readonly access: Map<string, AccessChange[]>
  /** Made at the first use: until then, listeners may be registered. */
  played: Promise<Play> | undefined
}

function playOf(begun: Begun): Promise<Play> {
  begun.played ??= begun.runtime
    .entitledContext()
    .then((context: MoneyContext) => createPlay(context))
  return begun.played
}

async function playDue(begun: Begun): Promise<void> {
  await (await playOf(begun)).due()
  await noteAccess(begun)
}

async function advanceTo(begun: Begun, until: Date): Promise<void> {
  const { clock } = begun
  const play = await playOf(begun)
  await playDue(begun)
  for (;;) {
    const next = await play.nextDueAt(clock.now())
    if (next === undefined || next > until) break
    clock.set(next)
    if (await play.due()) await noteAccess(begun)
  }
  if (until > clock.now()) clock.set(until)
}

/** Nothing runs, but access goes by the clock: it ends at its time all the same. */
async function standStill(begun: Begun, until: Date): Promise<void> {
  const { clock } = begun
  const ends = (await allOf(begun))
    .flatMap(({ cancelAt, trialEndsAt }) => [cancelAt, trialEndsAt])
    .filter((end) => end !== null)
    .filter((end) => end > clock.now() && end < until)
  for (const end of ends.toSorted((one, other) => one.getTime() - other.getTime())) {
    clock.set(end)
    await noteAccess(begun)
  }
  clock.set(until)
}

/** Whether each subscription gives access now, if that has changed. */
async function noteAccess(begun: Begun): Promise<void> {
  const { access, clock } = begun
  for (const one of await allOf(begun)) {
    const changes = access.get(one.id) ?? []
    access.set(one.id, changes)
    if (changes.at(-1)?.access === one.access) continue
    changes.push({ at: clock.now(), access: one.access })
  }
}

function allOf({ core }: Begun): Promise<readonly ListedSubscription[]> {
  return allPages((cursor) => core.subscriptions.list({ limit: 100, ...cursor }))
}

/** What the gateway `fake` takes for a card whose charges end by their amount. */
const referenceOf = (id: string) => `fake_card_good_${id}`

async function saveCard(begun: Begun, behavior: CardBehavior): Promise<RehearsalCard> {
  const id = newUuid()
  const reference = referenceOf(id)
  const { database } = await begun.runtime.opened()
  await sql`
    insert into billing.payment_methods (id, gateway, status, provider_reference, kind, last_four)
    values (${id}::uuid, ${fake.name}, 'attached', ${reference}, 'card', '4242')`.execute(
    database.db,
  )
  return cardOf(begun, { id, reference }, behavior)
}

function cardOf(
  { cards }: Begun,
  { id, reference }: { readonly id: string; readonly reference: string },
  behavior?: CardBehavior,
): RehearsalCard {
  if (behavior !== undefined) cards.behave(reference, behavior)
  return {
    id,
    behaves: (next, charges) => cards.behave(reference, next, charges),
  }
}

async function payPage(
  begun: Begun,
  id: string,
  behavior: CardBehavior | undefined,
): Promise<RehearsalCard> {
  const payment = await pageOf(begun, id)
  await answerPage(begun, payment, {
    result: 'success',
    ...(payment.saveCard && { card: 'good' }),
  })
  const { core } = begun
  const cardId = (await core.subscriptions.get(id))?.paymentMethodId ?? null
  const card = cardId === null ? undefined : await core.paymentMethods.get(cardId)
  if (card === undefined) throw new Error('the page has saved no card')
  return cardOf(begun, { id: card.id, reference: card.providerReference }, behavior)
}

/** What waits for the payer, or a new page. */
async function pageOf({ core }: Begun, id: string): Promise<Payment> {
  const bill = await core.subscriptions.bill(id)
  if (bill === undefined) {
    throw new QuittanceError('subscription_not_found', `there is no subscription ${id}`)
  }
  return bill.live !== null && !bill.isCharging ? bill.live : core.subscriptions.pay(id)
}

/** As the page of the gateway does it: by its callback. */
async function answerPage(
  begun: Begun,
  { id }: Payment,
  answer: Readonly<Record<string, string>>,
): Promise<void> {
  const body = Buffer.from(JSON.stringify({ payment_id: id, ...answer }))
  const [path] = begun.core.webhookPaths
  const target = (path ?? '').replace('{gateway}', fake.name)
  const headers = { 'content-type': 'application/json' }
  const { status } = await begun.core.receive({ gateway: fake.name, target, headers, body })
  if (status !== 200) throw new Error(`the callback of the page was refused: ${status}`)
  await playDue(begun)
}

/** Of the same length on any calendar. */
const units: Readonly<Record<string, (count: number) => Duration>> = {
  minute: minutes,
  hour: hours,
  day: days,
}

/**
 * When that time is over: `35 days`, `2 months`, `90 minutes`; months are those of the calendar, in
 * UTC. Error: `usage`.
 */
export function endOf(length: string, from: Date): Date {
  const [, count = '1', unit = ''] = /^(?:(\d{1,6}) )?(minute|hour|day)s?$/.exec(length) ?? []
  const lengthOf = units[unit]
  if (lengthOf !== undefined) return new Date(from.getTime() + lengthOf(Number(count)))
  const every = readInterval(length)
  if (every !== undefined) return boundary({ anchorAt: from, every, timeZone: 'UTC' }, 1)
  throw new QuittanceError('usage', `${JSON.stringify(length)} is no length of time`, {
    fix: 'Write it like "35 days", "2 months" or "90 minutes".',
  })
}
