import type { Moment, SubscriptionChange, SubscriptionState } from './change.ts'
import { draftOf, withSubscription, type Draft } from './draft.ts'
import { finish } from './finish.ts'
import { noticed, noticeOf } from './notify-end.ts'
import { planUnbegun } from './plan-unbegun.ts'
import { earliest } from './steps.ts'

/** Why a provider has not answered, and when it is asked again. */
export interface Silence {
  /** Null: there was nothing to ask, the provider knows nothing of it yet. */
  readonly error: string | null
  readonly retryAt: Date
}

/**
 * What is due of a subscription whose provider has not answered: notices, and the end of one that was
 * made here and never paid, so that the provider never heard of it.
 */
export function unheard(
  state: SubscriptionState,
  { error, retryAt }: Silence,
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
