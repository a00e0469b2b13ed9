import type { Scenario } from '../../scenario.ts'
import { sampleAdjustment, type AdjustmentState } from './adjustment.ts'
import type { SampleInput } from './event.ts'
import { sampleDeletedMethod, samplePaymentMethod } from './payment-method.ts'
import { sampleSubscription, type SubscriptionState } from './subscription.ts'
import { sampleTransaction, type TransactionState } from './transaction.ts'

export interface Sample extends Scenario {
  readonly type: string
  readonly entity: (input: SampleInput) => object
}

/** What test callbacks can be made of, by name; the first is the usual one. */
export const scenarios: ReadonlyMap<string, Sample> = new Map<string, Sample>([
  [
    'paid',
    {
      means: ['payment:paid'],
      ...transaction('completed', 'the payment is taken and fully processed', {
        status: 'completed',
        attempt: 'captured',
      }),
    },
  ],
  [
    'captured',
    {
      means: ['payment:paid'],
      ...transaction('paid', 'the payment is taken; fees and invoice follow', {
        status: 'paid',
        attempt: 'captured',
      }),
    },
  ],
  [
    'invoiced',
    {
      means: ['payment:paid', 'invoice:paid'],
      ...transaction('completed', 'the payment is taken, and its invoice is issued', {
        status: 'completed',
        attempt: 'captured',
        isNumbered: true,
      }),
    },
  ],
  [
    'declined',
    {
      means: ['payment:failed'],
      ...transaction('payment_failed', 'the card was declined; the checkout may still be paid', {
        status: 'ready',
        attempt: 'error',
      }),
    },
  ],
  [
    'action_required',
    {
      means: ['ignored:no_outcome'],
      ...transaction('payment_failed', 'the attempt waits for the customer (3-D Secure)', {
        status: 'ready',
        attempt: 'action_required',
      }),
    },
  ],
  [
    'canceled',
    {
      means: ['payment:canceled'],
      ...transaction('canceled', 'the transaction was canceled', { status: 'canceled' }),
    },
  ],
  [
    'pending',
    {
      means: ['ignored:no_outcome'],
      ...transaction('ready', 'the checkout is ready, nothing is paid', { status: 'ready' }),
    },
  ],
  [
    'refunded',
    {
      means: ['refund:paid'],
      ...adjustment('updated', 'the whole payment is refunded', {
        action: 'refund',
        status: 'approved',
      }),
    },
  ],
  [
    'refunded_half',
    {
      means: ['refund:paid half'],
      ...adjustment('created', 'half of the payment is refunded', {
        action: 'refund',
        status: 'approved',
        share: 'half',
      }),
    },
  ],
  [
    'refunded_rest',
    {
      means: ['refund:paid rest'],
      ...adjustment('created', 'the other half is refunded as well', {
        action: 'refund',
        status: 'approved',
        share: 'rest',
      }),
    },
  ],
  [
    'refund_pending',
    {
      means: ['refund:pending'],
      ...adjustment('created', 'a refund of the whole payment waits for approval', {
        action: 'refund',
        status: 'pending_approval',
      }),
    },
  ],
  [
    'refund_rejected',
    {
      means: ['refund:failed'],
      ...adjustment('updated', 'that refund was not approved', {
        action: 'refund',
        status: 'rejected',
      }),
    },
  ],
  [
    'card_saved',
    {
      shows: 'the card was saved with the purchase',
      means: ['payment_method:attached'],
      type: 'payment_method.saved',
      entity: samplePaymentMethod,
    },
  ],
  [
    'card_removed',
    {
      shows: 'the saved card was removed',
      means: ['payment_method:detached'],
      type: 'payment_method.deleted',
      entity: sampleDeletedMethod,
    },
  ],
  [
    'disputed',
    {
      means: ['dispute:open'],
      ...adjustment('created', 'the bank takes the payment back', {
        action: 'chargeback',
        status: 'approved',
      }),
    },
  ],
  [
    'dispute_won',
    {
      means: ['dispute:won'],
      ...adjustment('created', 'the bank gives the payment back', {
        action: 'chargeback_reverse',
        status: 'approved',
      }),
    },
  ],
  [
    'renewed',
    {
      means: ['payment:paid'],
      ...transaction('completed', 'the subscription that began with the payment is charged again', {
        status: 'completed',
        attempt: 'captured',
        renewal: true,
      }),
    },
  ],
  [
    'renewal_declined',
    {
      means: ['payment:failed'],
      ...transaction('payment_failed', 'that charge was declined', {
        status: 'past_due',
        attempt: 'error',
        renewal: true,
      }),
    },
  ],
  [
    'renewal_billed',
    {
      means: ['invoice:issued'],
      ...transaction('billed', 'its next period is billed, and nothing is paid yet', {
        status: 'billed',
        renewal: true,
        isNumbered: true,
      }),
    },
  ],
  [
    'renewal_past_due',
    {
      means: ['payment:failed'],
      ...transaction('past_due', 'the charge for it was declined, and will be tried again', {
        status: 'past_due',
        attempt: 'error',
        renewal: true,
      }),
    },
  ],
  [
    'subscription_created',
    subscription('created', 'a subscription began with the payment', {
      status: 'active',
      isNew: true,
    }),
  ],
  [
    'subscription_trialing',
    subscription('trialing', 'it begins with a trial', { status: 'trialing' }),
  ],
  [
    'subscription_activated',
    subscription('activated', 'its trial is over, or it is paid again', { status: 'active' }),
  ],
  [
    'subscription_updated',
    subscription('updated', 'it will end with its period', { status: 'active', isEnding: true }),
  ],
  [
    'subscription_past_due',
    subscription('past_due', 'a period of it could not be charged', { status: 'past_due' }),
  ],
  ['subscription_paused', subscription('paused', 'it was paused', { status: 'paused' })],
  ['subscription_resumed', subscription('resumed', 'it goes on', { status: 'active' })],
  ['subscription_canceled', subscription('canceled', 'it has ended', { status: 'canceled' })],
])

function transaction(
  action: string,
  shows: string,
  state: TransactionState,
): Omit<Sample, 'means'> {
  const entity = (input: SampleInput) => sampleTransaction(input, state)
  return { shows, type: `transaction.${action}`, entity }
}

function adjustment(action: string, shows: string, state: AdjustmentState): Omit<Sample, 'means'> {
  const entity = (input: SampleInput) => sampleAdjustment(input, state)
  return { shows, type: `adjustment.${action}`, entity }
}

/** It says only what has changed: what it means is asked for with an API key, and is nothing without one. */
function subscription(action: string, shows: string, state: SubscriptionState): Sample {
  return {
    shows,
    means: ['ignored:unhandled_event'],
    type: `subscription.${action}`,
    entity: (input) => sampleSubscription(input, state),
  }
}
