import type { Standing } from '../gateways/operations.ts'
import { minutes } from '../kernel/duration.ts'
import type { Payment } from '../payments/payment.ts'
import { applyReport } from '../processing/apply-report.ts'
import { askProvider, gatewayOf, isRefusal, type Operating } from './operating.ts'
import { pollRequest, requireCharge } from './poll-payment.ts'

/** Clocks differ, and a payer who has just paid is not told otherwise. */
const grace = minutes(15)

/**
 * Cancels a pending payment that nobody can pay any more: its checkout has ended, or has never come
 * to be. A payer who pays all the same makes it `paid` later.
 */
export async function writeOff(
  paymentId: string,
  standing: Standing,
  operating: Operating,
): Promise<void> {
  const payment = await requireCharge(paymentId, operating)
  if (payment.status !== 'pending' || !isWrittenOff(payment, standing, operating.now())) return
  // What the provider still offers is taken away first; if it says that it cannot be, the next
  // poll tells why.
  if (standing === 'open' && !(await closeAtProvider(payment, operating))) return
  await cancelLocally(payment, operating, 'poll')
}

/** Whether money can no longer be expected. */
export function isWrittenOff(payment: Payment, standing: Standing, now: Date): boolean {
  const { handedAt, expiresAt } = payment
  if (handedAt === null || standing === 'settling') return false
  const isOver = expiresAt !== null && now.getTime() > expiresAt.getTime() + grace
  if (isOver) return true
  const isUnopened = payment.checkout === 'unknown' && standing === 'absent'
  const isGone = isUnopened || (standing === 'over' && payment.checkout !== 'none')
  return isGone && now.getTime() > handedAt.getTime() + grace
}

/** Whether the checkout is closed, or is none that can be. */
async function closeAtProvider(payment: Payment, operating: Operating): Promise<boolean> {
  const found = gatewayOf(payment, operating)
  const { closeCheckout } = found.gateway
  if (closeCheckout === undefined) return true
  try {
    const closed = await askProvider(found, operating, (context) =>
      closeCheckout(pollRequest(payment), context),
    )
    return closed === 'closed'
  } catch (error) {
    if (isRefusal(error)) return true
    throw error
  }
}

/** Makes a pending payment `canceled`, with its event, once. */
export async function cancelLocally(
  payment: Payment,
  operating: Operating,
  cause: 'poll' | 'operator',
): Promise<void> {
  const { id, gateway, merchantAccount, live } = payment
  await applyReport(
    {
      gateway,
      cause,
      queue: operating.queue,
      outcomes: [
        {
          type: 'payment',
          payment: { id },
          status: 'canceled',
          ...(merchantAccount !== null && { merchantAccount }),
          ...(live !== null && { live }),
        },
      ],
    },
    operating.processing,
  )
}
