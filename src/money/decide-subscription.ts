import type { Kysely } from 'kysely'
import { draftPeriodPayment } from '../checkout/draft-period-payment.ts'
import { lockSubscriptionState } from '../database/lock-subscriptions.ts'
import { writeChange, type ChangeOrigin } from '../database/subscription-changes.ts'
import type { Tables } from '../database/tables.ts'
import type { Payment } from '../payments/payment.ts'
import type { SubscriptionChange, SubscriptionState, WishResult } from '../subscriptions/change.ts'
import type { Subscription, WantedQuotas } from '../subscriptions/subscription.ts'
import { quotasToGive } from '../subscriptions/terms.ts'
import { closePage } from './close-page.ts'
import type { MoneyContext } from './context.ts'
import { giveQuotas } from './give-quotas.ts'
import { handOverPeriod } from './hand-over-period.ts'
import { readMoment, type SubscriptionMoment } from './subscription-moment.ts'

/** What became of a wish: the subscription afterwards, and the payment that was made for it. */
export type DecidedWish =
  | {
      readonly kind: 'changed'
      readonly subscription: Subscription
      readonly payment: Payment | null
    }
  | (WishResult & { readonly kind: 'refused' })
  | { readonly kind: 'not_found' }

/**
 * Carries out a wish: decides it with the subscription's row locked, writes what it changes, and
 * hands its payment over, if it makes one. Whoever comes first wins, a wish or a renewal.
 */
export async function decideSubscription(
  id: string,
  wish: (state: SubscriptionState, moment: SubscriptionMoment) => WishResult,
  context: Omit<Decider, 'token'>,
): Promise<DecidedWish> {
  const token = context.processing.newId()
  const decided = await decide(id, wish, { ...context, token })
  if (decided.kind !== 'written') return decided
  context.processing.wake('subscription_events')
  const { subscription, payment, closing } = decided
  if (closing !== null) await closePage(closing, decided.now, context)
  if (payment === undefined) return { kind: 'changed', subscription, payment: null }
  const handed = await handOverPeriod(payment, context)
  return { kind: 'changed', subscription, payment: handed }
}

type Decision =
  | { readonly kind: 'not_found' }
  | (WishResult & { readonly kind: 'refused' })
  | {
      readonly kind: 'written'
      readonly subscription: Subscription
      readonly payment: Payment | undefined
      /** A page that nobody owes any more. */
      readonly closing: string | null
      readonly now: Date
    }

interface Decider extends MoneyContext {
  /** Where the payer can go on to from the page of a payment. */
  readonly returnUrl?: string | undefined
  /** Quotas to give with the wish; undefined: no window moves by it, either. */
  readonly quotas?: WantedQuotas | undefined
  /** Made for this call: what it recognises its payment by. */
  readonly token: string
}

function decide(
  id: string,
  wish: (state: SubscriptionState, moment: SubscriptionMoment) => WishResult,
  context: Decider,
): Promise<Decision> {
  const { database, gateways, newId } = context.processing
  return database.transaction(async ({ db }): Promise<Decision> => {
    const locked = await lockSubscriptionState(db, id, gateways)
    if (locked === undefined) return { kind: 'not_found' }
    const { quotas } = context
    // What is due comes first: what is wished counts instead.
    const toGive = quotas && quotasToGive(locked)
    const subscription = { ...locked.subscription, ...(toGive && { dueQuotas: null }) }
    const state = { ...locked, subscription }
    const moment = await readMoment(db, subscription, context)
    const result = wish(state, moment)
    if (result.kind === 'refused') return result
    const { change } = result
    const writing = { newId, cause: 'operator', callId: null, queue: context.queue } as const
    const payment = await writeDecided(db, { change, writing, moment }, context)
    const { subscription: changed, closeCheckout: closing } = change
    if (quotas !== undefined) {
      const wanted = { ...toGive, ...quotas }
      const given = { subscription: changed, wanted, now: moment.now }
      await giveQuotas(db, given, writing)
    }
    return { kind: 'written', subscription: changed, payment, closing, now: moment.now }
  })
}

/** Writes a change and the row of its payment, which the caller hands over after the commit. */
export async function writeDecided(
  db: Kysely<Tables>,
  decided: {
    readonly change: SubscriptionChange
    readonly writing: ChangeOrigin
    readonly moment: Pick<SubscriptionMoment, 'now'>
  },
  context: Decider,
): Promise<Payment | undefined> {
  const { change, moment } = decided
  const { token, processing } = context
  const writing = { ...decided.writing, invoicing: processing.invoicing }
  if (change.payment === null) return writeChange(db, change, writing)
  const creation = { ...context, gateways: processing.gateways, token, now: () => moment.now }
  const row = draftPeriodPayment(creation, change.payment, change.subscription)
  return writeChange(db, change, { ...writing, payment: { row, writtenBy: token } })
}
