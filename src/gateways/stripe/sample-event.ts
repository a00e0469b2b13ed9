import type { SignInput } from '../gateway.ts'

/** What all sample objects are made of; times in Unix seconds. */
export interface SampleInput {
  readonly paymentId: string
  readonly amount: number
  readonly currency: string
  readonly checkoutReference: string
  readonly providerReference: string
  readonly live: boolean
  readonly createdAt: number
}

/**
 * References that the payment does not have yet follow from its id, so that two callbacks about
 * one payment (a decline, then success) name the same session and intent, as Stripe's would.
 */
export function sampleInput({ payment, now }: SignInput): SampleInput {
  const idPart = payment.id.replaceAll('-', '')
  const live = payment.live ?? false
  return {
    paymentId: payment.id,
    // Exact: no payment is larger than what a double holds.
    amount: Number(payment.amount),
    currency: payment.currency.toLowerCase(),
    checkoutReference: payment.checkoutReference ?? `cs_${live ? 'live' : 'test'}_${idPart}`,
    providerReference: payment.providerReference ?? `pi_${idPart}`,
    live,
    createdAt: Math.floor(now.getTime() / 1000),
  }
}

/** The event around an object, pretty-printed as Stripe sends it. */
export function sampleEvent(input: SignInput, type: string, object: object): string {
  const { merchantAccount } = input.payment
  const event = {
    id: `evt_${input.newId().replaceAll('-', '')}`,
    object: 'event',
    ...(merchantAccount !== null && { account: merchantAccount }),
    api_version: '2026-10-28.endive',
    created: Math.floor(input.now.getTime() / 1000),
    data: { object },
    livemode: input.payment.live ?? false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
  }
  return JSON.stringify(event, null, 2)
}
