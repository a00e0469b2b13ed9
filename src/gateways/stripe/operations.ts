import type { Operations } from '../operations.ts'
import { backfill } from './backfill.ts'
import { chargeSavedCard } from './charge-saved-card.ts'
import { openCheckout } from './checkout.ts'
import { closeCheckout } from './close-checkout.ts'
import { moneyFault } from './money-fault.ts'
import { pollStripe } from './poll.ts'
import { refundCharge } from './refund.ts'
import { registration } from './registration.ts'

/** What Stripe can be asked to do. */
export const stripeOperations: Operations = {
  apiCredential: 'secret_key',
  checkout: { kind: 'api', open: openCheckout },
  moneyFault,
  poll: pollStripe,
  pollsRenewals: true,
  refund: refundCharge,
  chargeSavedCard,
  closeCheckout,
  registration,
  backfill,
}
