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

/** A checkout without an end may be paid for so long. */
const longestOpen = days(30)

interface Asked {
  readonly payment: Payment
  readonly now: Date
  /** How long the provider repeats callbacks. */
  readonly retryWindow: Duration
}

/**
 * When to ask next: null once the checkout has ended so long ago that its last callback has been
 * repeated for the last time. The age counts from when the payment was handed to the provider.
 */
export function nextPoll({ payment, now, retryWindow }: Asked): Date | null {
  if (payment.status === 'paid' || payment.handedAt === null) return null
  const handedAt = payment.handedAt.getTime()
  const end = payment.expiresAt?.getTime() ?? handedAt + longestOpen
  if (now.getTime() > end + retryWindow) return null
  return new Date(now.getTime() + pollInterval(now.getTime() - handedAt))
}

/** The same after a failure, which never ends the asking. */
export function nextPollAfterFailure(payment: Payment, now: Date): Date {
  const age = now.getTime() - (payment.handedAt ?? payment.createdAt).getTime()
  return new Date(now.getTime() + Math.min(pollInterval(age), longestAfterFailure))
}
