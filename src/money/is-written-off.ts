import type { Standing } from '../gateways/operations.ts'
import { hours, minutes } from '../kernel/duration.ts'
import { assertNever } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'

/** Clocks differ, and a payer who has just paid must not read that the payment was canceled. */
export const grace = minutes(15)

/**
 * A provider may take its time to hear of what it was asked. The period of a subscription is charged
 * anew once a payment of it was canceled, so that has to be certain.
 */
const absentFor = hours(1)

/** Whether money can no longer be expected, judged only by what the provider has said. */
export function isWrittenOff(payment: Payment, standing: Standing, now: Date): boolean {
  const { handedAt, expiresAt, checkout } = payment
  if (handedAt === null) return false
  const isPast = (time: Date, by = grace) => now.getTime() > time.getTime() + by
  const hasEnded = expiresAt !== null && isPast(expiresAt)
  const isUnconfirmed = checkout === 'unknown' || checkout === 'refused'
  switch (standing) {
    case 'open':
      return hasEnded
    case 'unpaid':
      return hasEnded || (checkout !== 'none' && isPast(handedAt))
    case 'absent':
      return hasEnded || (isUnconfirmed && isPast(handedAt, isSure(payment) ? grace : absentFor))
    case 'undecided':
    case 'paid':
    case 'unclear':
      return false
    default:
      return assertNever(standing)
  }
}

/**
 * It was refused, so nothing was done; or nothing follows from its being canceled; or it is a page of
 * which nobody knows the address.
 */
function isSure({ checkout, periodId, paymentMethodId }: Payment): boolean {
  return checkout === 'refused' || periodId === null || paymentMethodId === null
}
