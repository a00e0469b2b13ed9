import { sampleAdjustment, type AdjustmentState } from './adjustment.ts'
import type { SampleInput } from './event.ts'
import { sampleDeletedMethod, samplePaymentMethod } from './payment-method.ts'
import { sampleTransaction, type TransactionState } from './transaction.ts'

export interface Scenario {
  readonly shows: string
  readonly type: string
  readonly entity: (input: SampleInput) => object
}

/** What test callbacks can be made of, by name; the first is the usual one. */
export const scenarios: ReadonlyMap<string, Scenario> = new Map<string, Scenario>([
  [
    'paid',
    transaction('completed', 'the payment is taken and fully processed', {
      status: 'completed',
      attempt: 'captured',
    }),
  ],
  [
    'captured',
    transaction('paid', 'the payment is taken; fees and invoice follow', {
      status: 'paid',
      attempt: 'captured',
    }),
  ],
  [
    'declined',
    transaction('payment_failed', 'the card was declined; the checkout may still be paid', {
      status: 'ready',
      attempt: 'error',
    }),
  ],
  [
    'action_required',
    transaction('payment_failed', 'the attempt waits for the customer (3-D Secure)', {
      status: 'ready',
      attempt: 'action_required',
    }),
  ],
  ['canceled', transaction('canceled', 'the transaction was canceled', { status: 'canceled' })],
  ['pending', transaction('ready', 'the checkout is ready, nothing is paid', { status: 'ready' })],
  [
    'refunded',
    adjustment('updated', 'the whole payment is refunded', {
      action: 'refund',
      status: 'approved',
    }),
  ],
  [
    'refunded_half',
    adjustment('created', 'half of the payment is refunded', {
      action: 'refund',
      status: 'approved',
      share: 'half',
    }),
  ],
  [
    'refunded_rest',
    adjustment('created', 'the other half is refunded as well', {
      action: 'refund',
      status: 'approved',
      share: 'rest',
    }),
  ],
  [
    'refund_pending',
    adjustment('created', 'a refund of the whole payment waits for approval', {
      action: 'refund',
      status: 'pending_approval',
    }),
  ],
  [
    'refund_rejected',
    adjustment('updated', 'that refund was not approved', {
      action: 'refund',
      status: 'rejected',
    }),
  ],
  [
    'card_saved',
    {
      shows: 'the card was saved with the purchase',
      type: 'payment_method.saved',
      entity: samplePaymentMethod,
    },
  ],
  [
    'card_removed',
    {
      shows: 'the saved card was removed',
      type: 'payment_method.deleted',
      entity: sampleDeletedMethod,
    },
  ],
  [
    'disputed',
    adjustment('created', 'the bank takes the payment back', {
      action: 'chargeback',
      status: 'approved',
    }),
  ],
  [
    'dispute_won',
    adjustment('created', 'the bank gives the payment back', {
      action: 'chargeback_reverse',
      status: 'approved',
    }),
  ],
  [
    'renewed',
    transaction('completed', 'the subscription that began with the payment is charged again', {
      status: 'completed',
      attempt: 'captured',
      renewal: true,
    }),
  ],
  [
    'renewal_declined',
    transaction('payment_failed', 'that charge was declined', {
      status: 'past_due',
      attempt: 'error',
      renewal: true,
    }),
  ],
])

function transaction(action: string, shows: string, state: TransactionState): Scenario {
  const entity = (input: SampleInput) => sampleTransaction(input, state)
  return { shows, type: `transaction.${action}`, entity }
}

function adjustment(action: string, shows: string, state: AdjustmentState): Scenario {
  const entity = (input: SampleInput) => sampleAdjustment(input, state)
  return { shows, type: `adjustment.${action}`, entity }
}
