import type { PollReply } from '../gateways/operations.ts'
import type { Payment } from '../payments/payment.ts'
import { applyReport } from '../processing/apply-report.ts'
import { closeCheckout } from './close-checkout.ts'
import { isWrittenOff } from './is-written-off.ts'
import type { MoneyContext } from './context.ts'
import { statementOf } from './statement.ts'

type Saying = Pick<PollReply, 'standing' | 'unclosable'>

/** Whether the provider is asked once more after such an answer: to close the checkout. */
export function isToBeClosed(
  payment: Payment,
  { standing, unclosable }: Saying,
  now: Date,
): boolean {
  if (standing !== 'open' || unclosable === true) return false
  // Its checkout was found after the payment was canceled, or could not be closed before.
  if (payment.status === 'canceled') return true
  return payment.status === 'pending' && isWrittenOff(payment, standing, now)
}

/**
 * Cancels a pending payment that, as its provider says, is not paid and can no longer be paid, if
 * nothing in the provider's answer needs a review. A checkout that is still open there is closed
 * first; if that is not possible now, the next poll says why. If the payer pays all the same, the
 * payment becomes `paid` later.
 */
export async function writeOff(
  payment: Payment,
  { reply, now }: { readonly reply: Saying; readonly now: Date },
  context: MoneyContext,
): Promise<void> {
  const isOpen = isToBeClosed(payment, reply, now)
  if (isOpen && (await closeCheckout(payment, context)) === 'not_closed') return
  if (payment.status !== 'pending' || !isWrittenOff(payment, reply.standing, now)) return
  await cancel(payment, context, 'poll')
}

/** Makes a pending payment `canceled`, with its event, once. */
export async function cancel(
  payment: Payment,
  context: MoneyContext,
  cause: 'poll' | 'operator' | 'service',
): Promise<void> {
  const { id, gateway } = payment
  const canceled = { type: 'payment', payment: { id }, status: 'canceled' } as const
  const outcomes = [{ ...canceled, ...statementOf(payment) }]
  await applyReport({ gateway, cause, queue: context.queue, outcomes }, context.processing)
}
