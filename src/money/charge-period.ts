import { lockSubscriptionState } from '../database/lock-subscriptions.ts'
import { returnAsSubscribed } from '../database/subscription-creations.ts'
import { writeChange } from '../database/subscription-changes.ts'
import { findPeriod } from '../database/subscription-periods.ts'
import type { Payment } from '../payments/payment.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import { planAction } from '../subscriptions/plan-action.ts'
import { attemptCharge, type ChargeResult } from './attempt-charge.ts'
import type { MoneyContext } from './context.ts'
import { readMoment } from './subscription-moment.ts'

/**
 * Charges the saved card for a period whose payment this process has just written. What becomes of
 * it is applied, with all that follows for the subscription.
 */
export async function chargePeriod(
  payment: Payment,
  initiatedBy: 'customer' | 'merchant',
  context: MoneyContext,
): Promise<ChargeResult> {
  const result = await attemptCharge(payment, initiatedBy, context)
  if (result.kind === 'pending' && result.needsPayer) {
    const { database, random } = context.processing
    await retryPassing(() => awaitPayer(payment, context), random)
    await retryPassing(() => returnAsSubscribed(database.db, payment.id), random)
  }
  return result
}

/**
 * The subscription takes note that the charge waits for its payer. Nothing but the answer says so
 * where the provider has no page for that.
 */
async function awaitPayer(payment: Payment, context: MoneyContext): Promise<void> {
  const { database, gateways, newId } = context.processing
  await database.transaction(async ({ db }) => {
    const period = payment.periodId === null ? undefined : await findPeriod(db, payment.periodId)
    const state = period && (await lockSubscriptionState(db, period.subscriptionId, gateways))
    if (state?.live?.id !== payment.id) return
    const moment = await readMoment(db, state.subscription, context)
    const live = { ...state.live, needsPayer: true }
    await writeChange(db, planAction({ ...state, live }, moment), {
      newId,
      cause: 'service',
      callId: null,
      queue: context.queue,
    })
  })
  context.processing.wake('subscription_events')
}
