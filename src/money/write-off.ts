import type { Standing } from '../gateways/operations.ts'
import { minutes } from '../kernel/duration.ts'
import { assertNever } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { applyReport } from '../processing/apply-report.ts'
import { closeCheckout } from './close-checkout.ts'
import type { Operating } from './operating.ts'
import { statementOf } from './statement.ts'

/** Clocks differ, and a payer who has just paid is not told otherwise. */
const grace = minutes(15)

/**
 * Cancels a pending payment that nobody has paid and nobody can pay any more, as its provider says,
 * of whom nothing is left to review. What is still offered there is taken away first; if that cannot
 * be done now, the next poll tells why. A payer who pays all the same makes it `paid` later.
 */
export async function writeOff(
  payment: Payment,
  standing: Standing,
  operating: Operating,
): Promise<void> {
  if (payment.status === 'canceled' && standing === 'open') {
    // Its checkout has come to light after it was canceled.
    await closeCheckout(payment, operating)
    return
  }
  if (payment.status !== 'pending' || !isWrittenOff(payment, standing, operating.now())) return
  if (standing === 'open' && (await closeCheckout(payment, operating)) === 'not_closed') return
  await cancel(payment, operating, 'poll')
}

/** Whether money can no longer be expected: each of it rests on what the provider has said. */
function isWrittenOff(payment: Payment, standing: Standing, now: Date): boolean {
  const { handedAt, expiresAt, checkout } = payment
  if (handedAt === null) return false
  const isPast = (time: Date) => now.getTime() > time.getTime() + grace
  const hasEnded = expiresAt !== null && isPast(expiresAt)
  switch (standing) {
    case 'open':
      return hasEnded
    case 'unpaid':
      return hasEnded || (checkout !== 'none' && isPast(handedAt))
    case 'absent':
      return hasEnded || (/^(?:unknown|refused)$/.test(checkout) && isPast(handedAt))
    case 'settling':
    case 'paid':
    case 'unclear':
      return false
    default:
      return assertNever(standing)
  }
}

/** Makes a pending payment `canceled`, with its event, once. */
export async function cancel(
  payment: Payment,
  operating: Operating,
  cause: 'poll' | 'operator',
): Promise<void> {
  const { id, gateway } = payment
  const canceled = { type: 'payment', payment: { id }, status: 'canceled' } as const
  const outcomes = [{ ...canceled, ...statementOf(payment) }]
  await applyReport({ gateway, cause, queue: operating.queue, outcomes }, operating.processing)
}
