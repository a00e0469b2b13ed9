import type { Moment, SubscriptionChange, SubscriptionState } from './change.ts'
import { draftOf } from './draft.ts'
import { finish } from './finish.ts'
import { stepsOf } from './steps.ts'

/**
 * The one step that is due, or none. It asks for money once at most, and never while a payment is
 * live; what else is due comes with the next step, which `nextActionAt` calls for at once.
 */
export function planAction(state: SubscriptionState, moment: Moment): SubscriptionChange {
  const draft = draftOf(state)
  const due = stepsOf(state, moment).find(({ at }) => at <= moment.now)
  return finish(due === undefined ? draft : due.take(draft, moment), moment)
}
