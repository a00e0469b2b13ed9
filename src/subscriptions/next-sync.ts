import { days, hours, type Duration } from '../kernel/duration.ts'
import type { Moment, SubscriptionState } from './change.ts'
import { noticeOf } from './notify-end.ts'
import type { SubscriptionStatement } from './statement.ts'
import { earliest } from './steps.ts'

/** What happens at a boundary takes a provider a while. */
const afterBoundary: Duration = hours(1)
/** One that is waited for, and one of which nothing is expected. */
const whileUnpaid: Duration = days(1)
const otherwise: Duration = days(7)
/** An answer that cannot hold is out of date. */
const afterDisbelief: Duration = hours(1)

/** What its provider has said last; undefined: nothing, or it was not asked. */
export interface Heard {
  readonly statement?: SubscriptionStatement
  readonly disbelief?: string | null
}

/**
 * When its provider is asked again, should no callback come: some are lost. Or when an end is to be
 * announced, if that is sooner. Null: it is over.
 */
export function nextSync(
  state: SubscriptionState,
  { statement, disbelief = null }: Heard,
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
  statement: SubscriptionStatement | undefined,
): readonly Date[] {
  const { trialEndsAt, cancelAt, pauseAt, resumeAt } = subscription
  const times = [
    open?.startsAt,
    open?.endsAt,
    open?.nextAttemptAt,
    current?.endsAt,
    statement?.currentPeriod?.endsAt,
    trialEndsAt,
    cancelAt,
    pauseAt,
    resumeAt,
  ]
  return times.flatMap((time) => time ?? [])
}

const later = (time: Date, by: Duration) => new Date(time.getTime() + by)
