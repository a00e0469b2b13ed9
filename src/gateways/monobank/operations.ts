import type { Operations } from '../operations.ts'
import { chargeSavedCard } from './charge-saved-card.ts'
import { closeInvoice } from './close-checkout.ts'
import { openInvoice } from './checkout.ts'
import { moneyFault } from './order.ts'
import { pollInvoice } from './poll.ts'
import { refundInvoice } from './refund.ts'

/** What the bank does at our request. https://monobank.ua/api-docs/acquiring */
export const monobankOperations = {
  apiCredential: 'token',
  checkout: { kind: 'api', open: openInvoice },
  moneyFault,
  poll: pollInvoice,
  refund: refundInvoice,
  chargeSavedCard,
  closeCheckout: closeInvoice,
} as const satisfies Operations
