import Stripe from 'stripe'
import type { BillingCore } from '../../src/billing/types.ts'
import type { Answer } from '../../src/intake/responses.ts'
import type { Payment } from '../../src/payments/payment.ts'

export const signingSecret = 'whsec_quittance_tests_0123456789abcdef'

/** Options of a billing that accepts callbacks made here. */
export const stripeOptions = { gateways: { stripe: { signing_secret: signingSecret } } }

export interface SessionEvent {
  readonly type?: string
  readonly payment: Pick<Payment, 'id' | 'amount' | 'currency'>
  /** Fields of `data.object` that differ. */
  readonly object?: Readonly<Record<string, unknown>>
  /** Fields of the event itself that differ. */
  readonly event?: Readonly<Record<string, unknown>>
}

/** A Checkout Session event about this payment, worded as Stripe words it. */
export function sessionEvent({ type, payment, object, event }: SessionEvent): object {
  return {
    id: `evt_${payment.id.replaceAll('-', '')}`,
    object: 'event',
    api_version: '2026-10-28.endive',
    created: Math.floor(Date.now() / 1000),
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type: type ?? 'checkout.session.completed',
    data: {
      object: {
        id: `cs_test_${payment.id.replaceAll('-', '')}`,
        object: 'checkout.session',
        mode: 'payment',
        status: type === 'checkout.session.expired' ? 'expired' : 'complete',
        payment_status: type === 'checkout.session.expired' ? 'unpaid' : 'paid',
        amount_total: Number(payment.amount),
        currency: payment.currency.toLowerCase(),
        payment_intent: `pi_${payment.id.replaceAll('-', '')}`,
        client_reference_id: payment.id,
        metadata: { payment_id: payment.id },
        livemode: false,
        ...object,
      },
    },
    ...event,
  }
}

/** Signed by Stripe's own package. */
export function signedHeaders(body: string, secret = signingSecret): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload: body, secret }),
  }
}

export function sendStripe(core: BillingCore, event: object): Promise<Answer> {
  const body = JSON.stringify(event, null, 2)
  return core.receive({
    gateway: 'stripe',
    target: '/billing/webhooks/stripe',
    headers: signedHeaders(body),
    body: Buffer.from(body),
  })
}
