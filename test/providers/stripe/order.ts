import { customerId } from '../../../src/gateways/stripe/samples/payment-method.ts'
import type { SampleInput } from '../../../src/gateways/stripe/samples/event.ts'
import { chargeId, sampleIntent } from '../../../src/gateways/stripe/samples/intent.ts'
import { sampleMethod } from '../../../src/gateways/stripe/samples/payment-method.ts'
import { sampleRefund } from '../../../src/gateways/stripe/samples/refund.ts'
import { sampleSession } from '../../../src/gateways/stripe/samples/session.ts'
import type { Plan } from './life.ts'

/** What was opened or charged under a payment's id, as Stripe keeps it. */
export interface Order {
  readonly kind: 'session' | 'intent'
  readonly input: SampleInput
  readonly returnUrl: string
  readonly expiresAt: number
  readonly saveCard: boolean
  readonly method: string
  readonly customer: string | null
  /** The subscription that it begins. */
  readonly recurring: Plan | null
  state: 'open' | 'undecided' | 'paid' | 'unpaid' | 'expired' | 'canceled'
  /** The payer has tried to pay by now. */
  tried: boolean
  /** The last try was declined. */
  declined: boolean
  /** Why, if it is not for the usual reason. */
  declineCode: string | undefined
  /** The payer has to confirm it. */
  waiting: boolean
  readonly refunds: OrderRefund[]
}

export interface OrderRefund {
  readonly id: string
  readonly amount: bigint
  readonly metadata: Readonly<Record<string, string>>
  readonly reason: string | null
  readonly created: number
  status: 'succeeded' | 'pending' | 'failed'
}

export function sessionOf(order: Order): Readonly<Record<string, unknown>> {
  const { input, state } = order
  const isOpen = state === 'open'
  const complete = state === 'paid' || state === 'undecided' || state === 'unpaid'
  const { recurring } = order
  return {
    ...sampleSession(input, {
      status: complete ? 'complete' : 'expired',
      paymentStatus: state === 'paid' ? 'paid' : 'unpaid',
      method: 'card',
    }),
    ...(isOpen && { status: 'open', url: `https://checkout.stripe.com/c/pay/${input.sessionId}` }),
    created: input.createdAt,
    expires_at: order.expiresAt,
    payment_intent: order.tried ? input.intentId : null,
    success_url: order.returnUrl,
    cancel_url: order.returnUrl,
    customer: order.customer ?? (order.saveCard && complete ? customerId(input) : null),
    ...(recurring !== null && subscriptionFields(order, { recurring, complete })),
  }
}

/** It has no intent: what it begins is paid by an invoice, and a trial by nothing. */
function subscriptionFields(
  { input, state }: Order,
  { recurring, complete }: { readonly recurring: Plan; readonly complete: boolean },
): Readonly<Record<string, unknown>> {
  const isTrial = recurring.trialEndsAt !== null
  return {
    mode: 'subscription',
    ...(isTrial && { amount_subtotal: 0, amount_total: 0 }),
    payment_intent: null,
    ...(state === 'paid' && { payment_status: isTrial ? 'no_payment_required' : 'paid' }),
    customer: complete ? customerId(input) : null,
    subscription: complete ? `sub_${input.idPart}` : null,
    invoice: complete ? `in_${input.idPart}1` : null,
  }
}

export function intentOf(order: Order): Readonly<Record<string, unknown>> {
  const { input, state, declined, waiting } = order
  const status = waiting ? 'requires_action' : intentStatuses[state]
  const confirmed = state === 'paid' || state === 'undecided'
  const base = status === 'requires_action' || (status === 'requires_payment_method' && !declined)
  const sample = sampleIntent(input, base ? 'canceled' : status)
  return {
    ...sample,
    ...(declined && order.declineCode !== undefined && { last_payment_error: errorOf(order) }),
    status,
    created: input.createdAt,
    canceled_at: status === 'canceled' ? input.createdAt : null,
    cancellation_reason: null,
    next_action: waiting
      ? {
          type: 'redirect_to_url',
          redirect_to_url: {
            return_url: order.returnUrl,
            url: `https://hooks.stripe.com/3d_secure_2/${input.intentId}`,
          },
        }
      : null,
    payment_method: confirmed || waiting ? order.method : null,
    customer: customerOf(order),
    setup_future_usage: order.saveCard ? 'off_session' : null,
  }
}

/** A checkout that saves a card makes its customer once the payer tries to pay. */
export function customerOf({ customer, saveCard, tried, input }: Order): string | null {
  return customer ?? (saveCard && tried ? customerId(input) : null)
}

/** What declined a charge. */
export function errorOf({ declineCode }: Order): Readonly<Record<string, unknown>> {
  const asksPayer = declineCode === 'authentication_required'
  const code = asksPayer ? declineCode : 'card_declined'
  return { type: 'card_error', code, ...(declineCode && { decline_code: declineCode }) }
}

const intentStatuses = {
  open: 'requires_payment_method',
  unpaid: 'requires_payment_method',
  undecided: 'processing',
  paid: 'succeeded',
  expired: 'canceled',
  canceled: 'canceled',
} as const

export function refundOf({ input }: Order, refund: OrderRefund): Readonly<Record<string, unknown>> {
  return {
    ...sampleRefund({ ...input, createdAt: refund.created }, { suffix: '', amount: refund.amount }),
    id: refund.id,
    charge: chargeId(input),
    metadata: refund.metadata,
    reason: refund.reason,
    status: refund.status,
    ...(refund.status === 'failed' && { failure_reason: 'expired_or_canceled_card' }),
  }
}

export function methodOf({ input, customer }: Order): Readonly<Record<string, unknown>> {
  return { ...sampleMethod(input, customer ?? customerId(input)) }
}
