import type { Payment } from '../../payments/payment.ts'
import { isId } from './payload.ts'

/** The page of its transaction. A sandbox has a dashboard of its own. */
export function dashboardUrl({ checkoutReference: id, live }: Payment): string | undefined {
  // An id leaves nothing to escape.
  if (live === null || !isId(id, 'txn_')) return undefined
  return `https://${live ? '' : 'sandbox-'}vendors.paddle.com/transactions-v2/${id}`
}
