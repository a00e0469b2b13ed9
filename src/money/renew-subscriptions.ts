import type { Kysely } from 'kysely'
import { draftPeriodPayment } from '../checkout/draft-period-payment.ts'
import { takeDueSubscriptions, type SubscriptionLease } from '../queue/due-subscriptions.ts'
import { lockLeasedStates } from '../database/lock-subscriptions.ts'
import { writeChanges, type WrittenChange } from '../database/subscription-changes.ts'
import type { Tables } from '../database/tables.ts'
import { isIssuing } from '../invoices/draft-invoice.ts'
import { minutes, type Duration } from '../kernel/duration.ts'
import type { Payment } from '../payments/payment.ts'
import type { SubscriptionChange, SubscriptionState } from '../subscriptions/change.ts'
import { planAction } from '../subscriptions/plan-action.ts'
import type { WantedQuotas } from '../subscriptions/subscription.ts'
import { quotasToGive } from '../subscriptions/terms.ts'
import { chargeCards, type ChargeResult } from './charge-cards.ts'
import { closePage } from './close-page.ts'
import type { MoneyContext } from './context.ts'
import { giveQuotas } from './give-quotas.ts'
import { readMoments, type SubscriptionMoment } from './subscription-moment.ts'

/**
 * What a step has done:
 * - `lost`: nothing; another process has the subscription by now;
 * - `planned`: all that was due and needs no provider; `fault`: why no card could be charged, if the
 *   reason is with this process;
 * - `charged`: it has made a payment, and has asked the provider for it once.
 */
export type Stepped =
  | { readonly kind: 'lost' }
  | { readonly kind: 'planned'; readonly fault: string | null }
  | { readonly kind: 'charged'; readonly result: ChargeResult }

/** Takes what is due of the subscriptions that we charge, for `renewSubscriptions`. */
export async function takeDue(
  { limit, except }: { readonly limit: number; readonly except: readonly string[] },
  context: MoneyContext,
): Promise<readonly SubscriptionLease[]> {
  const { database, newId, subscriptionTime } = context.processing
  const now = await subscriptionTime(database.db)
  const asked = { now, ours: context.now(), limit, token: newId(), except }
  return takeDueSubscriptions(database.db, { ...asked, managedBy: 'local' })
}

/**
 * Does what is due of the subscriptions of one take. **The renewal on one screen**: one short
 * transaction locks the rows, fenced by their leases, decides each (`planAction`, which is pure) and
 * writes; only then is the provider asked, once, and only by the process that has written the payment's row. If
 * the commit is cut off, nothing is sent: a poll finds out that there was no charge. `onPlanned` is
 * called once for each, before its charge. What becomes of each comes by itself; it rejects if the
 * step failed.
 */
export function renewSubscriptions(
  leases: readonly SubscriptionLease[],
  context: MoneyContext,
  { onPlanned = () => {}, onAnswered = () => {}, ifEnded = 'close' }: RenewalOptions = {},
): readonly Promise<Stepped>[] {
  const renewing = (async () => {
    // Lock, decide, write.
    const planned = await planSafely(leases, ifEnded, context)
    for (const { lease, kind } of planned) if (kind !== 'page') onPlanned(lease, kind === 'payment')
    // Committed: the workers of this process need not look for events by chance.
    const hasEvents = planned.some((one) => 'hasEvents' in one && one.hasEvents)
    if (hasEvents) context.processing.wake('subscription_events')
    // Ask, each once; then apply what is said, with what follows from it.
    const paying = planned.filter((one) => one.kind === 'payment')
    const payments = paying.map(({ payment }) => payment)
    const leaseOf = new Map(paying.map(({ lease, payment }) => [payment, lease]))
    const answered = (payment: Payment) => {
      const lease = leaseOf.get(payment)
      if (lease !== undefined) onAnswered(lease)
    }
    const options = { initiatedBy: 'merchant', onAnswered: answered } as const
    const results = chargeCards(payments, options, context)
    const charged = new Map(paying.map(({ lease }, index) => [lease.id, results[index]]))
    const stepped = planned.map((one) =>
      end(one, charged.get(one.lease.id), { onPlanned, context }),
    )
    return new Map(planned.map(({ lease }, index) => [lease.id, stepped[index]]))
  })()
  return leases.map(async ({ id }) => {
    const stepped = (await renewing).get(id)
    if (stepped === undefined) throw new Error(`subscription ${id} was passed over`)
    return stepped
  })
}

interface RenewalOptions {
  readonly onPlanned?: (lease: SubscriptionLease, makesPayment: boolean) => void
  /** Called once the provider of a charge has answered, before the answer is applied. */
  readonly onAnswered?: (lease: SubscriptionLease) => void
  /** What is done about a page whose time is over: that must be noted before anything is decided. */
  readonly ifEnded?: 'close' | 'wait'
}

/** After the commit. */
async function end(
  planned: Planned,
  charged: Promise<ChargeResult> | undefined,
  { onPlanned, context }: Pick<RenewalOptions, 'onPlanned'> & { readonly context: MoneyContext },
): Promise<Stepped> {
  if (charged !== undefined) return { kind: 'charged', result: await charged }
  if (planned.kind === 'failed') throw planned.error
  if (planned.kind === 'page') {
    await closePage(planned.closing, planned.now, context)
    const options = { ...(onPlanned && { onPlanned }), ifEnded: 'wait' } as const
    const [again] = renewSubscriptions([planned.lease], context, options)
    return again ?? { kind: 'lost' }
  }
  if (planned.kind !== 'written') return { kind: 'lost' }
  if (planned.closing !== null) await closePage(planned.closing, planned.now, context)
  return { kind: 'planned', fault: planned.fault }
}

type Planned = { readonly lease: SubscriptionLease } & (
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** `closing`: a page that is in the way of a card, or that nobody owes any more. */
  | {
      readonly kind: 'written'
      readonly closing: string | null
      readonly now: Date
      readonly fault: string | null
      readonly hasEvents: boolean
    }
  /** The time of a page is over. */
  | { readonly kind: 'page'; readonly closing: string; readonly now: Date }
  | { readonly kind: 'payment'; readonly payment: Payment; readonly hasEvents: boolean }
)

type IfEnded = NonNullable<RenewalOptions['ifEnded']>

/** If one cannot be decided, each is decided alone, so that it keeps no other waiting. Never rejects. */
async function planSafely(
  leases: readonly SubscriptionLease[],
  ifEnded: IfEnded,
  context: MoneyContext,
): Promise<readonly Planned[]> {
  const { database, log } = context.processing
  try {
    return await database.transaction(({ db }) => plan(db, { leases, ifEnded }, context))
  } catch (error) {
    if (leases.length === 1) return leases.map((lease) => ({ lease, kind: 'failed', error }))
    log.info({ err: error }, 'subscriptions are decided one by one')
    const alone = leases.map((lease) => planSafely([lease], ifEnded, context))
    return (await Promise.all(alone)).flat()
  }
}

async function plan(
  db: Kysely<Tables>,
  { leases, ifEnded }: { readonly leases: readonly SubscriptionLease[]; readonly ifEnded: IfEnded },
  context: MoneyContext,
): Promise<readonly Planned[]> {
  const { gateways, newId } = context.processing
  const states = await lockLeasedStates(db, leases, gateways)
  const lost = leases.filter(({ id }) => !states.has(id))
  if (states.size === 0) return lost.map((lease) => ({ lease, kind: 'lost' }))
  const ours = leases
    .filter(({ id }) => states.has(id))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const names = [...new Set(ours.map(({ gateway }) => gateway))]
  const momentOf = await readMoments(db, names, context)
  const token = newId()
  const pages: Planned[] = []
  const decided: Decided[] = []
  for (const lease of ours) {
    const state = states.get(lease.id)
    if (state === undefined) continue
    const moment = momentOf(state.subscription)
    const { now } = moment
    const closing = ifEnded === 'close' ? endedPage(state, now) : undefined
    if (closing !== undefined) pages.push({ lease, kind: 'page', closing, now })
    else decided.push({ lease, moment, ...decide(state, moment, { ...context, token }) })
  }
  const written = await write(db, decided, context)
  return [...lost.map((lease): Planned => ({ lease, kind: 'lost' })), ...pages, ...written]
}

interface Decided extends WrittenChange {
  readonly lease: SubscriptionLease
  readonly moment: SubscriptionMoment
  readonly quotas: WantedQuotas | null
}

/** `token`: what this transaction recognises its payments by. */
function decide(
  locked: SubscriptionState,
  moment: SubscriptionMoment,
  { token, ...context }: MoneyContext & { readonly token: string },
): Omit<Decided, 'lease' | 'moment'> {
  const { gateways, newId, invoicing } = context.processing
  const quotas = quotasToGive(locked)
  const subscription = { ...locked.subscription, ...(quotas && { dueQuotas: null }) }
  const change = progressing(planAction({ ...locked, subscription }, moment), moment)
  const origin = { newId, cause: 'service', callId: null, queue: context.queue } as const
  const writing = { ...origin, invoicing }
  if (change.payment === null) return { change, writing, quotas }
  const creation = { ...context, gateways, token, now: () => moment.now }
  const row = draftPeriodPayment(creation, change.payment, change.subscription)
  return { change, writing: { ...writing, payment: { row, writtenBy: token } }, quotas }
}

async function write(
  db: Kysely<Tables>,
  decided: readonly Decided[],
  { processing: { invoicing } }: MoneyContext,
): Promise<readonly Planned[]> {
  const payments = await writeChanges(db, decided)
  const planned: Planned[] = []
  for (const [index, { lease, change, writing, quotas, moment }] of decided.entries()) {
    const { now, fault } = moment
    const given = quotas && { subscription: change.subscription, wanted: quotas, now }
    const hasQuotaEvents = given !== null && (await giveQuotas(db, given, writing))
    // Where documents are issued a period has one, which has an event as well.
    const hasInvoices = isIssuing(invoicing) && change.periods.length > 0
    const hasEvents = change.events.length > 0 || hasInvoices || hasQuotaEvents
    const payment = payments[index]
    const { closeCheckout: closing } = change
    planned.push(
      payment === undefined
        ? { lease, kind: 'written', closing, now, fault, hasEvents }
        : { lease, kind: 'payment', payment, hasEvents },
    )
  }
  return planned
}

const patience: Duration = minutes(15)

/** A step that changes nothing and is due again at once would be taken for ever. */
function progressing(change: SubscriptionChange, { now }: SubscriptionMoment): SubscriptionChange {
  const { subscription, periods, payment, events } = change
  const isNothing = payment === null && periods.length === 0 && events.length === 0
  const { nextActionAt } = subscription
  if (!isNothing || nextActionAt === null || nextActionAt > now) return change
  const later = new Date(now.getTime() + patience)
  return { ...change, subscription: { ...subscription, nextActionAt: later } }
}

/** A page that is live although its time is over: it was declined, or cannot be polled. */
function endedPage({ live }: SubscriptionState, now: Date): string | undefined {
  if (live?.isPage !== true || live.expiresAt === null) return undefined
  return live.expiresAt <= now ? live.id : undefined
}
