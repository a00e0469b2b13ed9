import { hours, minutes } from '../kernel/duration.ts'
import type { Moment, SubscriptionChange, SubscriptionState } from './change.ts'
import { draftOf, withClosing, withSubscription, type Draft } from './draft.ts'
import { end } from './end-subscription.ts'
import { finish } from './finish.ts'
import { noticed, noticeOf } from './notify-end.ts'
import { isUnbegun } from './standing.ts'
import { earliest } from './steps.ts'

/** Why a provider has not answered, and when it is asked again. */
export interface NoAnswer {
  /** Null: there was nothing to ask, the provider knows nothing of it yet. */
  readonly error: string | null
  readonly retryAt: Date
}

/**
 * What is due of a subscription whose provider has not answered: notices, and the end of one that was
 * made here and never paid, so that the provider never heard of it.
 */
export function planWithoutAnswer(
  state: SubscriptionState,
  { error, retryAt }: NoAnswer,
  moment: Moment,
): SubscriptionChange {
  const unbegun = planUnbegun(state, moment)
  if (unbegun !== null) return unbegun
  const draft = draftOf(state)
  // Ended since it was taken: there is nothing more to hear.
  if (state.subscription.status === 'canceled') {
    return finish(withSubscription(draft, { nextActionAt: null }), moment)
  }
  const noted =
    state.subscription.actionError === error
      ? draft
      : withSubscription(draft, { actionError: error })
  const left: Draft = noticed(noted, moment)
  const change = finish(left, moment)
  const times = [retryAt, noticeOf(left.state, moment)?.at ?? null]
  const next = earliest(times.flatMap((at) => (at ? [{ at, take: (one: Draft) => one }] : [])))
  return { ...change, subscription: { ...change.subscription, nextActionAt: next } }
}

/** How long what could not be closed is left alone. */
const patience = minutes(15)

/**
 * What is to be done to a subscription whose provider is not known to have begun it. Its checkout is
 * closed first: what is paid there begins it at the provider, ended here or not. Null: it has begun,
 * or is over, and nothing is to be done by our clock.
 */
export function planUnbegun(state: SubscriptionState, moment: Moment): SubscriptionChange | null {
  if (!isUnbegun(state)) return null
  const { now } = moment
  const due = unbegunUntil(state, moment)
  const draft = draftOf(state)
  if (due > now) return finish(withSubscription(draft, { nextActionAt: due }), moment)
  if (state.live === null) return finish(end(draft, 'incomplete', moment), moment)
  const again = withSubscription(draft, { nextActionAt: new Date(now.getTime() + patience) })
  return finish(withClosing(again), moment)
}

/** Until when it may still begin: its checkout may end sooner than the time for a first payment. */
function unbegunUntil(
  { subscription: { createdAt }, live }: SubscriptionState,
  { policy }: Moment,
): Date {
  const over = new Date(createdAt.getTime() + hours(policy.incompleteHours))
  const ends = live?.expiresAt ?? null
  return ends !== null && ends < over ? ends : over
}
