import { databaseNow } from '../../src/database/now.ts'
import type { SubscriptionContext } from '../../src/outcomes/applied.ts'
import type { SubscriptionPolicy } from '../../src/subscriptions/change.ts'

/** What merchants get who set nothing. */
export const policy: SubscriptionPolicy = {
  retryDays: [1, 3, 5, 7],
  onUnpaid: 'cancel',
  trialNoticeDays: [3],
  periodNoticeDays: [3],
  incompleteHours: 24,
}

export const subscriptionContext: Omit<SubscriptionContext, 'gateways'> = {
  subscriptionTime: databaseNow,
  subscriptionPolicy: policy,
}
