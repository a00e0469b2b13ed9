import type { Kysely } from 'kysely'
import { findPeriod } from '../database/subscription-periods.ts'
import { findSubscription } from '../database/subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import type { Payment } from '../payments/payment.ts'
import type { RecurringTerms } from './checkout-request.ts'

/**
 * What the checkout of this payment begins at the provider; undefined: nothing, for it is of no
 * subscription that the provider is to manage.
 */
export async function readRecurring(
  db: Kysely<Tables>,
  { periodId }: Pick<Payment, 'periodId'>,
): Promise<RecurringTerms | undefined> {
  const period = periodId === null ? undefined : await findPeriod(db, periodId)
  const subscription = period && (await findSubscription(db, period.subscriptionId))
  if (subscription?.managedBy !== 'provider') return undefined
  const { every, trialEndsAt, timeZone, amount: price } = subscription
  return { every, trialEndsAt, timeZone, price }
}
