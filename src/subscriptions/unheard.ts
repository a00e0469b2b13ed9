import { hours, minutes } from '../kernel/duration.ts'
import type { Moment, SubscriptionChange, SubscriptionState } from './change.ts'
import { draftOf, withSubscription, type Draft } from './draft.ts'
import { end } from './end-subscription.ts'
import { finish } from './finish.ts'
import { noticed, noticeOf } from './notify-end.ts'
import { earliest } from './steps.ts'

/** Why a provider has not answered, and when it is asked again. */
export interface Silence {
  /** Null: there was nothing to ask, the provider knows nothing of it yet. */
  readonly error: string | null
  readonly retryAt: Date
}

/** How long a page is waited for that may still be paid. */
const patience = minutes(15)

/**
 * What is due of a subscription whose provider has not answered: notices, and the end of one that was
 * made here and never paid, so that the provider never heard of it.
 */
export function unheard(
  state: SubscriptionState,
  { error, retryAt }: Silence,
  moment: Moment,
): SubscriptionChange {
  const draft = draftOf(state)
  const noted =
    state.subscription.actionError === error
      ? draft
      : withSubscription(draft, { actionError: error })
  const over = endsAt(state, moment)
  const isOver = over !== null && over <= moment.now
  const left: Draft = isOver ? end(noted, 'incomplete', moment) : noticed(noted, moment)
  const change = finish(left, moment)
  const times = [retryAt, over, noticeOf(left.state, moment)?.at ?? null]
  const next = earliest(times.flatMap((at) => (at ? [{ at, take: (one: Draft) => one }] : [])))
  return {
    ...change,
    subscription: { ...change.subscription, nextActionAt: isOver ? null : next },
  }
}

/** When one that was never begun at its provider is over; while its page is open, a little later. */
function endsAt({ subscription, live }: SubscriptionState, { now, policy }: Moment): Date | null {
  const { status, providerReference, createdAt } = subscription
  if (status !== 'incomplete' || providerReference !== null) return null
  const at = new Date(createdAt.getTime() + hours(policy.incompleteHours))
  return live !== null && at <= now ? new Date(now.getTime() + patience) : at
}
