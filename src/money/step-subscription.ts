import { draftPeriodPayment } from '../checkout/draft-period-payment.ts'
import type { SubscriptionLease } from '../database/due-subscriptions.ts'
import { lockLeasedState } from '../database/lock-subscriptions.ts'
import { writeChange } from '../database/subscription-changes.ts'
import { isIssuing } from '../invoices/draft-invoice.ts'
import { minutes, type Duration } from '../kernel/duration.ts'
import type { Payment } from '../payments/payment.ts'
import type { SubscriptionChange, SubscriptionState } from '../subscriptions/change.ts'
import { planAction } from '../subscriptions/plan-action.ts'
import { quotasToGive } from '../subscriptions/terms.ts'
import type { ChargeResult } from './attempt-charge.ts'
import { chargePeriod } from './charge-period.ts'
import { closePage } from './close-page.ts'
import type { MoneyContext } from './context.ts'
import { giveQuotas } from './give-quotas.ts'
import { readMoment, type SubscriptionMoment } from './subscription-moment.ts'

/**
 * What a step has done:
 * - `lost`: nothing, for another has the subscription by now;
 * - `planned`: whatever was due that needs no provider; `fault`: why no card could be charged, if
 *   the reason is with this process;
 * - `charged`: it has made a payment, and asked the provider for it once.
 */
export type Stepped =
  | { readonly kind: 'lost' }
  | { readonly kind: 'planned'; readonly fault: string | null }
  | { readonly kind: 'charged'; readonly result: ChargeResult }

/**
 * Does what is due of one subscription. **The step on one screen**: one short transaction locks the
 * row, fenced by the lease, decides (`planAction`, which is pure) and writes; only then, and only by
 * whoever has written the payment's row, is the provider asked, once. If the commit is cut off,
 * nothing is sent: a poll finds out that there was no charge. `onPlanned` is called before the charge.
 */
export async function stepSubscription(
  lease: SubscriptionLease,
  context: MoneyContext,
  onPlanned: (makesPayment: boolean) => void = () => {},
): Promise<Stepped> {
  let planned = await plan(lease, context, 'close')
  if (planned.kind === 'page') {
    await closePage(planned.paymentId, planned.now, context)
    planned = await plan(lease, context, 'wait')
  }
  onPlanned(planned.kind === 'payment')
  if (planned.kind !== 'written' && planned.kind !== 'payment') return { kind: 'lost' }
  // They are committed; the workers of this process need not look for them by chance.
  if (planned.hasEvents) context.processing.wake('subscription_events')
  if (planned.kind === 'payment') {
    return { kind: 'charged', result: await chargePeriod(planned.payment, 'merchant', context) }
  }
  if (planned.closing !== null) await closePage(planned.closing, planned.now, context)
  return { kind: 'planned', fault: planned.fault }
}

type Planned =
  | { readonly kind: 'lost' }
  /** `closing`: a page that is in the way of a card, or that nobody owes any more. */
  | {
      readonly kind: 'written'
      readonly closing: string | null
      readonly now: Date
      readonly fault: string | null
      readonly hasEvents: boolean
    }
  /** The time of a page is over; that must be noted first. */
  | { readonly kind: 'page'; readonly paymentId: string; readonly now: Date }
  | { readonly kind: 'payment'; readonly payment: Payment; readonly hasEvents: boolean }

function plan(
  lease: SubscriptionLease,
  context: MoneyContext,
  ifEnded: 'close' | 'wait',
): Promise<Planned> {
  const { database, gateways, newId, invoicing } = context.processing
  return database.transaction(async ({ db }): Promise<Planned> => {
    const locked = await lockLeasedState(db, lease, gateways)
    if (locked === undefined) return { kind: 'lost' }
    const toGive = quotasToGive(locked)
    const subscription = { ...locked.subscription, ...(toGive && { dueQuotas: null }) }
    const state = { ...locked, subscription }
    const moment = await readMoment(db, state.subscription, context)
    const { now } = moment
    const page = endedPage(state, now)
    if (page !== undefined && ifEnded === 'close') return { kind: 'page', paymentId: page, now }
    const change = progressing(planAction(state, moment), moment)
    // Where documents are issued a period has one, which has an event as well.
    const hasOwnEvents =
      change.events.length > 0 || (isIssuing(invoicing) && change.periods.length > 0)
    const origin = { newId, cause: 'service', callId: null, queue: context.queue } as const
    const writing = { ...origin, invoicing }
    const giveDue = async () => {
      if (toGive === null) return hasOwnEvents
      const given = { subscription: change.subscription, wanted: toGive, now }
      return (await giveQuotas(db, given, origin)) || hasOwnEvents
    }
    if (change.payment === null) {
      await writeChange(db, change, writing)
      const { closeCheckout: closing } = change
      return { kind: 'written', closing, now, fault: moment.fault, hasEvents: await giveDue() }
    }
    const creation = { ...context, gateways, token: newId(), now: () => now }
    const row = draftPeriodPayment(creation, change.payment, change.subscription)
    const payment = await writeChange(db, change, {
      ...writing,
      payment: { row, writtenBy: creation.token },
    })
    if (payment === undefined) throw new Error('a payment was planned and not written')
    return { kind: 'payment', payment, hasEvents: await giveDue() }
  })
}

const patience: Duration = minutes(15)

function later(time: Date): Date {
  return new Date(time.getTime() + patience)
}

/** A step that changes nothing and is due again at once would be taken for ever. */
function progressing(change: SubscriptionChange, { now }: SubscriptionMoment): SubscriptionChange {
  const { subscription, periods, payment, events } = change
  const isNothing = payment === null && periods.length === 0 && events.length === 0
  const { nextActionAt } = subscription
  if (!isNothing || nextActionAt === null || nextActionAt > now) return change
  return { ...change, subscription: { ...subscription, nextActionAt: later(now) } }
}

/** A page that is live although its time is over: it was declined, or cannot be polled. */
function endedPage({ live }: SubscriptionState, now: Date): string | undefined {
  if (live?.isPage !== true || live.expiresAt === null) return undefined
  return live.expiresAt <= now ? live.id : undefined
}
