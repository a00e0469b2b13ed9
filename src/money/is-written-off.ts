import type { Standing } from '../gateways/operations.ts'
import { minutes } from '../kernel/duration.ts'
import { assertNever } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'

/** Clocks differ, and a payer who has just paid must not read that the payment was canceled. */
const grace = minutes(15)

/** Whether money can no longer be expected, judged only by what the provider has said. */
export function isWrittenOff(payment: Payment, standing: Standing, now: Date): boolean {
  const { handedAt, expiresAt, checkout } = payment
  if (handedAt === null) return false
  const isPast = (time: Date) => now.getTime() > time.getTime() + grace
  const hasEnded = expiresAt !== null && isPast(expiresAt)
  const isUnconfirmed = checkout === 'unknown' || checkout === 'refused'
  switch (standing) {
    case 'open':
      return hasEnded
    case 'unpaid':
      return hasEnded || (checkout !== 'none' && isPast(handedAt))
    case 'absent':
      return hasEnded || (isUnconfirmed && isPast(handedAt))
    case 'undecided':
    case 'paid':
    case 'unclear':
      return false
    default:
      return assertNever(standing)
  }
}
