import { days, hours, type Duration } from '../kernel/duration.ts'
import type { Money } from '../kernel/money.ts'
import type { Moment, SubscriptionChange, SubscriptionState, TermsReview } from './change.ts'
import { draftOf, withReview, withSubscription, type Draft } from './draft.ts'
import { finish } from './finish.ts'
import { announced, trialGiven, trialOver } from './managed-period.ts'
import { takeStatus, type Disbelief } from './mirror-status.ts'
import type { SubscriptionStatement } from './statement.ts'
import { noticed, noticeOf } from './notify-end.ts'
import { earliest } from './steps.ts'
import { isSameInterval } from './terms.ts'

/** What a statement changes. */
export interface Mirrored {
  readonly change: SubscriptionChange
  /**
   * Why some of the statement does not hold, so that it is asked for again; null: all of it does.
   * `terms_mismatch`: nothing shows that it is what the payment was made for.
   */
  readonly disbelief: Disbelief | 'terms_mismatch' | null
}

/**
 * What the provider's answer means for a subscription that it manages. An answer says how it stands,
 * not what has happened, so the events are of what differs from what is stored: each fires once,
 * whatever was missed, repeated or overtaken. It never grants a period that costs anything: only a
 * payment does.
 */
export function mirror(
  state: SubscriptionState,
  statement: SubscriptionStatement,
  moment: Moment,
): Mirrored {
  const { draft, disbelief } = taken(answered(draftOf(state)), statement, moment)
  const noted = noticed(draft, moment)
  const change = finish(noted, moment)
  const nextActionAt = nextSync(noted.state, { statement, disbelief }, moment)
  return {
    change: { ...change, subscription: { ...change.subscription, nextActionAt } },
    disbelief,
  }
}

function answered(draft: Draft): Draft {
  const { actionError } = draft.state.subscription
  return actionError === null ? draft : withSubscription(draft, { actionError: null })
}

interface Taken {
  readonly draft: Draft
  readonly disbelief: Mirrored['disbelief']
}

function taken(draft: Draft, statement: SubscriptionStatement, moment: Moment): Taken {
  const { status } = draft.state.subscription
  if (status === 'canceled') {
    return { draft, disbelief: statement.status === 'canceled' ? null : 'ended' }
  }
  const mismatch = mismatchOf(draft.state, statement)
  const marked = mismatch === null ? draft : withReview(draft, mismatch)
  // The payment's own money is all that speaks for it: another's subscription must not pass for it.
  if (mismatch !== null && draft.state.managed?.termsBy === 'payment') {
    return { draft: marked, disbelief: 'terms_mismatch' }
  }
  const known = withPlans(withTerms(marked, statement), statement)
  const begun = statement.status === 'incomplete' ? known : trialGiven(announced(known))
  const converts = statement.status === 'active' || statement.status === 'past_due'
  const isInTrial = statement.status === 'trialing' || statement.status === 'incomplete'
  return takeStatus(isInTrial ? begun : trialOver(begun, converts), statement, moment)
}

/** Ours, and what only names a payment of ours, must be sold for what we know of it. */
function mismatchOf(
  { subscription, managed }: SubscriptionState,
  statement: SubscriptionStatement,
): TermsReview | null {
  const { termsBy = 'us' } = managed ?? {}
  if (termsBy === 'provider') return null
  const { amount, currency, every } = statement
  const isOtherLength = termsBy === 'us' && !isSameInterval(subscription.every, every)
  if (isSameMoney(subscription, statement) && !isOtherLength) return null
  return {
    reason: 'terms_mismatch',
    ...(isOtherLength && { detail: `every ${every.count} ${every.unit}` }),
    stated: { reference: statement.reference, amount, currency },
    expected: { amount: subscription.amount, currency: subscription.currency },
  }
}

function isSameMoney(one: Money, other: Money): boolean {
  return one.amount === other.amount && one.currency === other.currency
}

/** What the provider sells it for, if it was not made here. */
function withTerms(draft: Draft, { amount, currency, every }: SubscriptionStatement): Draft {
  const { subscription, managed } = draft.state
  if (managed?.termsBy === 'us') return draft
  const isSame = isSameMoney(subscription, { amount, currency })
  if (isSame && isSameInterval(subscription.every, every)) return draft
  return withSubscription(draft, { amount, currency, every })
}

function withPlans(draft: Draft, statement: SubscriptionStatement): Draft {
  const { cancelAt, resumeAt, trialEndsAt, status, hasGivenUp } = statement
  const pauseAt = status === 'paused' || hasGivenUp === true ? null : statement.pauseAt
  const stated = { cancelAt, pauseAt, resumeAt, trialEndsAt }
  const { subscription } = draft.state
  const isSame = (['cancelAt', 'pauseAt', 'resumeAt', 'trialEndsAt'] as const).every(
    (one) => subscription[one]?.getTime() === stated[one]?.getTime(),
  )
  return isSame ? draft : withSubscription(draft, stated)
}

/** What happens at a boundary takes a provider a while. */
const afterBoundary: Duration = hours(1)
/** One that is waited for, and one of which nothing is expected. */
const whileUnpaid: Duration = days(1)
const otherwise: Duration = days(7)
/** An answer that cannot hold is out of date. */
const afterDisbelief: Duration = hours(1)

/**
 * When its provider is asked again, should no callback come: some are lost. Or when an end is to be
 * announced, if that is sooner. Null: it is over.
 */
function nextSync(
  state: SubscriptionState,
  {
    statement,
    disbelief,
  }: Pick<Mirrored, 'disbelief'> & { readonly statement: SubscriptionStatement },
  moment: Moment,
): Date | null {
  if (state.subscription.status === 'canceled') return null
  const { now } = moment
  const wait = disbelief === null ? usualWait(state) : afterDisbelief
  const boundaries = boundariesOf(state, statement)
    .map((time) => later(time, afterBoundary))
    .filter((time) => time > now)
  const notice = noticeOf(state, moment)?.at ?? null
  const times = [later(now, wait), ...boundaries, ...(notice === null ? [] : [notice])]
  return earliest(times.map((at) => ({ at, take: (draft) => draft })))
}

function usualWait({ subscription: { status }, open }: SubscriptionState): Duration {
  const isUnpaid = open !== null || status === 'past_due' || status === 'incomplete'
  return isUnpaid ? whileUnpaid : otherwise
}

function boundariesOf(
  { subscription, open, current }: SubscriptionState,
  statement: SubscriptionStatement,
): readonly Date[] {
  const { trialEndsAt, cancelAt, pauseAt, resumeAt } = subscription
  const times = [
    open?.startsAt,
    open?.endsAt,
    open?.nextAttemptAt,
    current?.endsAt,
    statement.currentPeriod?.endsAt,
    trialEndsAt,
    cancelAt,
    pauseAt,
    resumeAt,
  ]
  return times.flatMap((time) => time ?? [])
}

const later = (time: Date, by: Duration) => new Date(time.getTime() + by)
