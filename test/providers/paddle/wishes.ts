import type { StandInReply } from '../../support/stand-in.ts'
import { timeAt, type Account } from './account.ts'
import type { HeldSubscription } from './entities.ts'
import { cancelNow, pauseNow, resumeNow } from './life.ts'
import { problem } from './replies.ts'
import type { CancelWish, PauseWish, ResumeWish } from './schemas.ts'
import { noSubscription, replyOf, tell } from './subscriptions.ts'

// What Paddle refuses, and how: https://developer.paddle.com/errors/overview

const canceled = problem(400, 'subscription_update_when_canceled')
const locked = problem(400, 'subscription_locked_pending_changes')
const renewsSoon = problem(409, 'subscription_locked_renewal')
const halfAnHour = 30 * 60_000

/** Within the half hour before a renewal nothing can be changed. */
function isLocked(account: Account, { status, period }: HeldSubscription): boolean {
  const left = Date.parse(period?.ends_at ?? '') - account.now().getTime()
  return status === 'active' && left > 0 && left < halfAnHour
}

function onHeld(
  account: Account,
  id: string | undefined,
  change: (held: HeldSubscription) => StandInReply | undefined,
): StandInReply {
  const held = account.subscriptions.find((one) => one.id === id)
  if (held === undefined) return noSubscription
  if (held.status === 'canceled') return canceled
  if (isLocked(account, held)) return renewsSoon
  return change(held) ?? replyOf(held)
}

export function cancelWished(
  account: Account,
  id: string | undefined,
  wish: CancelWish,
): StandInReply {
  return onHeld(account, id, (held) => {
    if (wish.effective_from === 'immediately' || held.status === 'paused' || !held.period) {
      cancelNow(account, held)
      return undefined
    }
    if (held.change !== null) return locked
    held.change = { action: 'cancel', at: held.period.ends_at, resumeAt: null }
    tell(account, held, 'updated')
    return undefined
  })
}

export function pauseWished(
  account: Account,
  id: string | undefined,
  wish: PauseWish,
): StandInReply {
  const { effective_from, resume_at: resumeAt = null } = wish
  const { on_resume: onResume = 'start_new_billing_period' } = wish
  return onHeld(account, id, (held) => {
    if (held.status === 'paused' || !held.period)
      return problem(400, 'subscription_cannot_be_paused')
    if (held.change !== null) return locked
    const isNow = effective_from === 'immediately'
    if (isNow && held.status === 'trialing')
      return problem(400, 'subscription_update_when_trialing')
    const isLater = resumeAt !== null && resumeAt > held.period.ends_at
    if (onResume === 'continue_existing_billing_period' && isLater) return periodIsOver
    held.onResume = onResume
    if (isNow) pauseNow(account, held, resumeAt)
    else held.change = { action: 'pause', at: held.period.ends_at, resumeAt }
    if (!isNow) tell(account, held, 'updated')
    return undefined
  })
}

const periodIsOver = problem(400, 'subscription_continuing_existing_billing_period_not_allowed')

export function resumeWished(
  account: Account,
  id: string | undefined,
  wish: ResumeWish,
): StandInReply {
  return onHeld(account, id, (held) => {
    if (held.status !== 'paused') return problem(400, 'subscription_must_be_paused')
    const isOver = held.period === null || held.period.ends_at <= timeAt(account)
    if (wish.on_resume === 'continue_existing_billing_period' && isOver) return periodIsOver
    held.onResume = wish.on_resume
    resumeNow(account, held)
    return undefined
  })
}

/** With nothing planned, nothing happens. */
export function takenBack(account: Account, id: string | undefined): StandInReply {
  return onHeld(account, id, (held) => {
    if (held.status === 'past_due') return problem(400, 'subscription_update_when_past_due')
    if (held.change === null) return undefined
    held.change = null
    tell(account, held, 'updated')
    return undefined
  })
}
