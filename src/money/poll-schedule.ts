import { days, hours, minutes, type Duration } from '../kernel/duration.ts'
import type { Payment } from '../payments/payment.ts'

/**
 * How long to wait before a provider is asked after the same payment again, by the time since it
 * was handed over. Within the first hour a lost callback is found within ten minutes.
 */
export function pollInterval(age: Duration): Duration {
  if (age < hours(1)) return minutes(6)
  if (age < hours(6)) return minutes(30)
  return age < days(1) ? hours(2) : hours(6)
}

/** A question that was not answered is asked again soon, however old the payment is. */
const longestAfterFailure = minutes(30)

/** A checkout without an end is expected to be paid for so long. */
const longestOpen = days(30)

/** What is still undecided after everything else is over: a bank that takes its time. */
const lateInterval = days(1)

interface Asked {
  readonly payment: Payment
  readonly now: Date
  /** How long the provider repeats callbacks. */
  readonly retryWindow: Duration
  /** Somebody has paid, or may have. */
  readonly isUndecided: boolean
}

/**
 * How long until the next question, by the time since the payment was handed to the provider: the
 * database makes an instant of it, for its clock says when it is due. Null once the checkout has
 * ended so long ago that its last callback has been repeated for the last time; but one that is
 * pending even then is asked after until it is decided. Nothing ever decides one that has no end
 * and that nobody pays: it is given up.
 */
export function nextPoll({ payment, now, retryWindow, isUndecided }: Asked): Duration | null {
  const { status, handedAt, expiresAt } = payment
  if (status === 'paid' || handedAt === null) return null
  const end = expiresAt?.getTime() ?? handedAt.getTime() + longestOpen
  if (now.getTime() <= end + retryWindow) return pollInterval(now.getTime() - handedAt.getTime())
  const isGivenUp = status !== 'pending' || (expiresAt === null && !isUndecided)
  return isGivenUp ? null : lateInterval
}

/** The same after a failure, which never ends the asking. */
export function nextPollAfterFailure(payment: Payment, now: Date): Duration {
  const age = now.getTime() - (payment.handedAt ?? payment.createdAt).getTime()
  return Math.min(pollInterval(age), longestAfterFailure)
}
