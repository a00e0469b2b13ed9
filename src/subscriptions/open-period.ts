import { namedUuid } from '../kernel/named-uuid.ts'
import { boundary, periodToOpen } from './boundary.ts'
import type { Moment } from './change.ts'
import { withPayment, withPeriod, withSubscription, type Draft } from './draft.ts'
import type { SubscriptionPeriod } from './period.ts'
import type { Subscription } from './subscription.ts'
import { isSameInterval, nextTermsOf, termsOf } from './terms.ts'

/** A period that nobody has tried to charge yet. */
export function newPeriod(
  subscription: Pick<Subscription, 'id' | 'status' | 'amount' | 'currency'>,
  time: Pick<SubscriptionPeriod, 'number' | 'startsAt' | 'endsAt'>,
): SubscriptionPeriod {
  return {
    ...time,
    id: namedUuid(time.startsAt, `subscription/${subscription.id}/${time.number}`),
    subscriptionId: subscription.id,
    kind: 'paid',
    state: 'open',
    nominalStartsAt: time.startsAt,
    amount: subscription.amount,
    currency: subscription.currency,
    statusBefore: subscription.status,
    skippedPeriods: 0,
    isTimeAssumed: false,
    paymentsMade: 0,
    declines: 0,
    notMade: 0,
    firstFailedAt: null,
    nextAttemptAt: null,
    needs: 'nothing',
    paidPaymentId: null,
    paidAt: null,
    lastNotice: null,
  }
}

/**
 * Opens the period after what was paid, `startsAt` being its end. Of several that went by meanwhile
 * only the one that has now in it; another length of periods counts from where it begins.
 */
export function openNext(draft: Draft, startsAt: Date, { now }: Moment): Draft {
  const { state } = draft
  const { subscription } = state
  const number = state.lastNumber + 1
  const terms = nextTermsOf(state)
  const anchor = anchorOfNext(subscription, { number, startsAt, every: terms.every })
  const cadence = {
    anchorAt: anchor.anchorAt,
    every: terms.every,
    timeZone: subscription.timeZone,
  }
  const time = periodToOpen(cadence, { n: number - anchor.anchorNumber, startsAt }, now)
  const period = newPeriod(
    { ...subscription, ...terms },
    { number: number + time.skipped, startsAt: time.startsAt, endsAt: time.endsAt },
  )
  return withPeriod(withSubscription(draft, anchor), { ...period, skippedPeriods: time.skipped })
}

/** The anchor stays, unless the length of the periods changes: then it is where that begins. */
function anchorOfNext(
  { anchorAt, anchorNumber, every, nextTerms }: Subscription,
  next: { number: number; startsAt: Date; every: Subscription['every'] },
): { readonly anchorAt: Date; readonly anchorNumber: number } {
  const isMoved = nextTerms !== null && anchorNumber >= nextTerms.fromNumber
  const keeps = isSameInterval(every, next.every) || isMoved
  if (anchorAt !== null && keeps) return { anchorAt, anchorNumber }
  return { anchorAt: next.startsAt, anchorNumber: next.number }
}

/** Opens a period that counts from its own start: the first one, or one after a pause. */
export function openFirst(draft: Draft, startsAt: Date): Draft {
  const { state } = draft
  const subscription = { ...state.subscription, ...nextTermsOf(state) }
  const time = {
    number: state.lastNumber + 1,
    startsAt,
    endsAt: endOfFirst(subscription, startsAt),
  }
  return withPeriod(draft, newPeriod(subscription, time))
}

/** Where a period ends that counts from its own start. */
export function endOfFirst(
  { every, timeZone }: Pick<Subscription, 'every' | 'timeZone'>,
  startsAt: Date,
): Date {
  return boundary({ anchorAt: startsAt, every, timeZone }, 1)
}

/**
 * Gives up the open period. Its number and those it skipped are used up, their time is not: what is
 * opened next begins where the last granted one ends, if it does not begin anew.
 */
export function voidOpen(draft: Draft): Draft {
  const { open, subscription } = draft.state
  if (open === null) return draft
  const anchorNumber = subscription.anchorNumber + 1 + open.skippedPeriods
  const shifted = withSubscription(draft, { anchorNumber })
  return withPeriod(shifted, { ...open, state: 'void', nextAttemptAt: null })
}

/** The next payment of the open period: with the card, or on a page if there is none. */
export function payOpen(draft: Draft, paymentMethodId: string | null): Draft {
  const { open, subscription } = draft.state
  if (open === null) return draft
  const attempt = open.paymentsMade + 1
  const isPage = paymentMethodId === null
  const paid = withPeriod(draft, {
    ...open,
    paymentsMade: attempt,
    // A page leaves the plan of charges as it is; a charge says how it goes on.
    nextAttemptAt: isPage ? open.nextAttemptAt : null,
    needs: isPage ? open.needs : 'nothing',
  })
  const { plan } = termsOf(subscription, open.number)
  return withPayment(paid, {
    id: attemptId(open, attempt),
    periodId: open.id,
    attempt,
    paymentMethodId,
    plan,
    amount: open.amount,
    currency: open.currency,
  })
}

/** The id of a payment of this period: the first attempt is 1. */
export function attemptId(
  { id, nominalStartsAt }: Pick<SubscriptionPeriod, 'id' | 'nominalStartsAt'>,
  attempt: number,
): string {
  return namedUuid(nominalStartsAt, `period/${id}/${attempt}`)
}
