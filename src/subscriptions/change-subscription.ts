import type { Moment, SubscriptionState, WishResult } from './change.ts'
import { draftOf, withPeriod, withSubscription, type Draft } from './draft.ts'
import { endOfFirst } from './open-period.ts'
import type { NextTerms, Subscription, Terms, WantedQuotas } from './subscription.ts'
import { isInTrial } from './standing.ts'
import { dueQuotasAfter, isSameTerms, standingTermsOf, termsOf } from './terms.ts'
import { withCard } from './use-card.ts'
import { carriedOut, ended, refused } from './wish-result.ts'

/** What a merchant may change; what is left out stays. */
export interface SubscriptionChanges extends Partial<Terms> {
  /** Null: no card is charged any more. */
  readonly paymentMethodId?: string | null
  /** A time that has passed ends the trial now. */
  readonly trialEndsAt?: Date
  readonly metadata?: Subscription['metadata']
  /**
   * The quotas of the given plan, which come with its first period. Null: no quotas come, not even the
   * waiting quotas of an earlier plan. Left out: the given plan brings no quotas.
   */
  readonly planQuotas?: WantedQuotas | null
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
    (draft) => (changes.planQuotas === null ? withoutPlanQuotas(draft) : draft),
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
 * terms that were to come with its grant, they are taken over now; their quotas wait for the grant.
 */
function withTerms(draft: Draft, { planQuotas, ...changes }: SubscriptionChanges): Draft {
  const { subscription, open, lastNumber } = draft.state
  const { nextTerms: before } = subscription
  const fromNumber = lastNumber + 1
  const known = termsOf(subscription, fromNumber)
  const { plan, amount, currency, every } = { ...known, ...defined(changes) }
  const wanted = { plan, amount, currency, every }
  const isOpened = before !== null && open !== null && before.fromNumber <= open.number
  const planned = isOpened ? undefined : before?.quotas
  const quotas = changes.plan === undefined ? planned : (planQuotas ?? undefined)
  if (isSameTerms(wanted, known)) {
    return before === null || isOpened || quotas === planned
      ? draft
      : withSubscription(draft, { nextTerms: nextOf(wanted, before.fromNumber, quotas) })
  }
  const standing = standingTermsOf(draft.state)
  return withSubscription(draft, {
    ...standing,
    nextTerms: isSameTerms(wanted, standing) ? null : nextOf(wanted, fromNumber, quotas),
    ...(isOpened && { dueQuotas: dueQuotasAfter(subscription, before) }),
  })
}

/** The quotas that wait for the first period of a plan never come. */
function withoutPlanQuotas(draft: Draft): Draft {
  const { nextTerms, dueQuotas } = draft.state.subscription
  const rest = dueQuotas === null ? draft : withSubscription(draft, { dueQuotas: null })
  if (nextTerms?.quotas === undefined) return rest
  const { quotas: _, ...terms } = nextTerms
  return withSubscription(rest, { nextTerms: terms })
}

function nextOf(terms: Terms, fromNumber: number, quotas: WantedQuotas | undefined): NextTerms {
  return { ...terms, fromNumber, ...(quotas !== undefined && { quotas }) }
}

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
