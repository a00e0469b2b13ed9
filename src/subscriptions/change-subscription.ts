import type { Moment, SubscriptionState, WishResult } from './change.ts'
import { draftOf, withPeriod, withSubscription, type Draft } from './draft.ts'
import { endOfFirst } from './open-period.ts'
import { isInTrial } from './standing.ts'
import type { NextTerms, Subscription, Terms } from './subscription.ts'
import { isSameTerms, termsOf } from './terms.ts'
import { withCard } from './use-card.ts'
import { carriedOut, ended, refused } from './wish-result.ts'

/** What a merchant may change; what is left out stays. */
export interface SubscriptionChanges extends Partial<Terms> {
  /** Null: no card is charged any more. */
  readonly paymentMethodId?: string | null
  /** A time that has passed ends the trial now. */
  readonly trialEndsAt?: Date
  readonly metadata?: Subscription['metadata']
}

/** Changes it: other terms apply from the next period that is opened. */
export function changeSubscription(
  state: SubscriptionState,
  changes: SubscriptionChanges,
  moment: Moment,
): WishResult {
  if (state.subscription.status === 'canceled') return ended
  const { trialEndsAt, paymentMethodId, metadata } = changes
  if (trialEndsAt !== undefined && !isInTrial(state)) {
    return refused('subscription_invalid', 'the subscription is in no trial', 'trialEndsAt')
  }
  const steps: readonly ((draft: Draft) => Draft)[] = [
    (draft) => (metadata === undefined ? draft : withSubscription(draft, { metadata })),
    (draft) => withTerms(draft, changes),
    (draft) => (trialEndsAt === undefined ? draft : withTrialEnd(draft, trialEndsAt, moment)),
    (draft) => (paymentMethodId === undefined ? draft : setCard(draft, paymentMethodId, moment)),
  ]
  return carriedOut(
    steps.reduce((draft, step) => step(draft), draftOf(state)),
    moment,
  )
}

function setCard(draft: Draft, paymentMethodId: string | null, moment: Moment): Draft {
  if (paymentMethodId !== null) return withCard(draft, paymentMethodId, moment)
  const without = withSubscription(draft, { paymentMethodId })
  return { ...without, state: { ...without.state, isCardUsable: false } }
}

/**
 * The open period keeps its terms: the new ones apply from the one after. If it was opened with
 * terms that were to come with its grant, they are taken over now.
 */
function withTerms(draft: Draft, changes: Partial<Terms>): Draft {
  const { subscription, open, lastNumber } = draft.state
  const fromNumber = lastNumber + 1
  const known = termsOf(subscription, fromNumber)
  const { plan, amount, currency, every } = { ...known, ...defined(changes) }
  const wanted = { plan, amount, currency, every }
  if (isSameTerms(wanted, known)) return draft
  const standing = open === null ? termsNow(subscription) : termsOf(subscription, open.number)
  const nextTerms: NextTerms | null = isSameTerms(wanted, standing)
    ? null
    : { ...wanted, fromNumber }
  return withSubscription(draft, { ...standing, nextTerms })
}

const termsNow = ({ plan, amount, currency, every }: Subscription): Terms => ({
  plan,
  amount,
  currency,
  every,
})

/** An undefined property is one that is left out. */
function defined(changes: Partial<Terms>): Partial<Terms> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}

/** Moves the end of a trial, and what hangs on it: a planned end, and what is paid in advance. */
function withTrialEnd(draft: Draft, wanted: Date, { now }: Moment): Draft {
  const { subscription, current, open } = draft.state
  // It was announced already, perhaps.
  if (wanted.getTime() === subscription.trialEndsAt?.getTime()) return draft
  const trialEndsAt = wanted > now ? wanted : now
  const isPlanned = subscription.cancelAt !== null
  const changed = withSubscription(draft, {
    trialEndsAt,
    cancelAt: isPlanned ? trialEndsAt : null,
  })
  const trial = current && {
    ...current,
    endsAt: trialEndsAt > current.startsAt ? trialEndsAt : new Date(current.startsAt.getTime() + 1),
    lastNotice: null,
  }
  const moved = trial === null ? changed : withPeriod(changed, trial)
  if (open === null) return moved
  const terms = termsOf(subscription, open.number)
  const endsAt = endOfFirst({ ...subscription, ...terms }, trialEndsAt)
  return withPeriod(moved, { ...open, startsAt: trialEndsAt, endsAt })
}
