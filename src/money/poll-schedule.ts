import { days, hours, minutes, seconds, type Duration } from '../kernel/duration.ts'
import type { Payment } from '../payments/payment.ts'
import { grace } from './is-written-off.ts'

/**
 * How long to wait before the same payment is polled again, by the time since it was handed over.
 * Within the first hour a lost callback is found within ten minutes.
 */
export function pollInterval(age: Duration): Duration {
  if (age < hours(1)) return minutes(6)
  if (age < hours(6)) return minutes(30)
  return age < days(1) ? hours(2) : hours(6)
}

/** A poll that was not answered is repeated soon, however old the payment is. */
const longestAfterFailure = minutes(30)

/** How long a checkout without an end is expected to be payable. */
const longestOpen = days(30)

/** For a payment that is still undecided after everything else is over: the bank takes its time. */
const lateInterval = days(1)

/** The end must have passed. */
const justAfter = seconds(1)

interface PolledPayment {
  readonly payment: Payment
  readonly now: Date
  /** How long the provider keeps redelivering callbacks. */
  readonly retryWindow: Duration
  /** The payer has paid, or may have. */
  readonly isUndecided: boolean
}

/**
 * How long until the next poll, by the time since the payment was handed to the provider. The
 * database turns this into an instant, because its clock decides what is due. A pending payment is
 * polled as soon as it may be written off. Null once the checkout ended so long ago that its last
 * callback has had its last redelivery; but a payment that is still pending then is polled until it
 * is decided. A checkout without an end that is never paid would never be decided, so it is given up.
 */
export function nextPoll({
  payment,
  now,
  retryWindow,
  isUndecided,
}: PolledPayment): Duration | null {
  const { status, handedAt, expiresAt } = payment
  if (status === 'paid' || handedAt === null) return null
  const usual = pollInterval(now.getTime() - handedAt.getTime())
  const untilWrittenOff = expiresAt === null ? 0 : expiresAt.getTime() + grace - now.getTime()
  if (status === 'pending' && untilWrittenOff > 0) {
    return Math.min(usual, untilWrittenOff + justAfter)
  }
  const end = expiresAt?.getTime() ?? handedAt.getTime() + longestOpen
  if (now.getTime() <= end + retryWindow) return usual
  const isGivenUp = status !== 'pending' || (expiresAt === null && !isUndecided)
  return isGivenUp ? null : lateInterval
}

/** The same after a failure, which never ends the polling. */
export function nextPollAfterFailure(payment: Payment, now: Date): Duration {
  const age = now.getTime() - (payment.handedAt ?? payment.createdAt).getTime()
  return Math.min(pollInterval(age), longestAfterFailure)
}
