import type { Kysely } from 'kysely'
import { draftPeriodPayment } from '../checkout/draft-period-payment.ts'
import { lockSubscriptionState } from '../database/lock-subscriptions.ts'
import { writeChange, type ChangeOrigin } from '../database/subscription-changes.ts'
import { findSubscription } from '../database/subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import { assertNever, QuittanceError } from '../kernel/errors.ts'
import { withUuid } from '../kernel/uuid.ts'
import type { Payment } from '../payments/payment.ts'
import type { SubscriptionChange, SubscriptionState, WishResult } from '../subscriptions/change.ts'
import type { Subscription, WantedQuotas } from '../subscriptions/subscription.ts'
import { quotasToGive } from '../subscriptions/terms.ts'
import { gatewayOf } from './ask-provider.ts'
import { chargeCard } from './charge-cards.ts'
import { closePage } from './close-page.ts'
import type { MoneyContext } from './context.ts'
import { giveQuotas } from './give-quotas.ts'
import { openCheckout } from './open-checkout.ts'
import { readMoment, type SubscriptionMoment } from './subscription-moment.ts'

/** What somebody wants of a subscription, decided by how it stands. */
export type Wish = (state: SubscriptionState, moment: SubscriptionMoment) => WishResult

/** Errors: those of `decideSubscription` and `refusal`. */
export async function carryOut(id: string, wish: Wish, context: Wishing): Promise<Subscription> {
  const decided = await decideSubscription(id, wish, context)
  if (decided.kind === 'refused') throw refusal(decided)
  return decided.subscription
}

const notAsItIs = 'Look at how it stands: quittance subscriptions show ID'

/** The error that says why a wish was not carried out. */
export function refusal(refused: DecidedWish & { readonly kind: 'refused' }): QuittanceError {
  const { reason, field, text } = refused
  switch (reason) {
    case 'subscription_ended':
      return new QuittanceError('subscription_ended', text)
    case 'renewal_under_way':
      return new QuittanceError('renewal_under_way', text)
    case 'subscription_invalid':
      return field === undefined
        ? new QuittanceError('subscription_invalid', text, { fix: notAsItIs })
        : new QuittanceError('subscription_invalid', `${field}: ${text}`, { field })
    default:
      return assertNever(reason)
  }
}

/** Error: `subscription_not_found`. */
export async function requireSubscription(
  id: string,
  { processing }: MoneyContext,
): Promise<Subscription> {
  const { db } = processing.database
  const found = await withUuid(id, (known) => findSubscription(db, known))
  if (found === undefined) throw notFound(id)
  return found
}

function notFound(id: string): QuittanceError {
  const text = `there is no subscription ${JSON.stringify(id.slice(0, 80))}`
  return new QuittanceError('subscription_not_found', text)
}

/** What became of a wish: the subscription afterwards, and the payment that was made for it. */
type DecidedWish =
  | {
      readonly kind: 'changed'
      readonly subscription: Subscription
      readonly payment: Payment | null
    }
  | (WishResult & { readonly kind: 'refused' })

/**
 * Decides a wish with the subscription's row locked, writes what it changes, and hands its payment
 * over, if it makes one. Whoever comes first wins, a wish or a renewal. Error:
 * `subscription_not_found`.
 */
export async function decideSubscription(
  id: string,
  wish: Wish,
  context: Wishing,
): Promise<DecidedWish> {
  const token = context.processing.newId()
  const decided = await withUuid(id, (known) => decide(known, wish, { ...context, token }))
  if (decided === undefined) throw notFound(id)
  if (decided.kind === 'refused') return decided
  context.processing.wake('subscription_events')
  const { subscription, payment, closing } = decided
  if (closing !== null) await closePage(closing, decided.now, context)
  if (payment === undefined) return { kind: 'changed', subscription, payment: null }
  const handed = await handOverPeriod(payment, context)
  return { kind: 'changed', subscription, payment: handed }
}

type Decision =
  | (WishResult & { readonly kind: 'refused' })
  | {
      readonly kind: 'written'
      readonly subscription: Subscription
      readonly payment: Payment | undefined
      /** A page that nobody owes any more. */
      readonly closing: string | null
      readonly now: Date
    }

interface Wishing extends MoneyContext {
  /** Where the payer can go on to from the page of a payment. */
  readonly returnUrl?: string | undefined
  /** Quotas to give with the wish; undefined: no window moves by it, either. */
  readonly quotas?: WantedQuotas | undefined
}

interface Decider extends Wishing {
  /** Made for this call: what it recognises its payment by. */
  readonly token: string
}

/** Undefined: there is no such subscription. */
function decide(id: string, wish: Wish, context: Decider): Promise<Decision | undefined> {
  const { database, gateways, newId } = context.processing
  return database.transaction(async ({ db }): Promise<Decision | undefined> => {
    const locked = await lockSubscriptionState(db, id, gateways)
    if (locked === undefined) return undefined
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

/**
 * Hands the payment of a period that its caller has just written to the provider, once: the saved
 * card is charged while the customer is there, or the page is opened. Errors, for a page:
 * `checkout_refused`, `checkout_unknown`.
 */
export async function handOverPeriod(payment: Payment, context: MoneyContext): Promise<Payment> {
  if (payment.paymentMethodId !== null) {
    return (await chargeCard(payment, 'customer', context)).payment
  }
  const { checkout } = gatewayOf(payment, context).gateway
  return checkout?.kind === 'api' ? openCheckout(payment, checkout, context) : payment
}
