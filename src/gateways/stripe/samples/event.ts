import type { SignInput } from '../../gateway.ts'
import { apiVersion } from '../api.ts'

/** What all sample objects are made of; times in Unix seconds. */
export interface SampleInput {
  readonly paymentId: string
  readonly amount: bigint
  readonly currency: string
  /** The part that all ids derived from the payment's id have in common. */
  readonly idPart: string
  readonly sessionId: string
  readonly intentId: string
  readonly live: boolean
  readonly createdAt: number
}

/**
 * References that the payment does not have yet are derived from its id, so that two callbacks
 * about one payment (a decline, then success) name the same session and intent, as Stripe's would.
 */
export function sampleInput({ payment, now }: SignInput): SampleInput {
  const idPart = payment.id.replaceAll('-', '')
  const live = payment.live ?? false
  const { providerReference } = payment
  return {
    paymentId: payment.id,
    amount: payment.amount,
    currency: payment.currency.toLowerCase(),
    idPart,
    sessionId: payment.checkoutReference ?? `cs_${live ? 'live' : 'test'}_${idPart}`,
    // A renewal is known by its invoice.
    intentId: providerReference?.startsWith('pi_') ? providerReference : `pi_${idPart}`,
    live,
    createdAt: Math.floor(now.getTime() / 1000),
  }
}

/** Exact: no payment is larger than what a double holds. */
export function sampleAmount(amount: bigint): number {
  return Number(amount)
}

/** An object, and what an event adds to it. */
export interface SampleChange {
  readonly type: string
  readonly object: object
  /** The previous values of the fields that changed. */
  readonly previous?: object
}

/** The event around an object, pretty-printed as Stripe sends it. */
export function sampleEvent(input: SignInput, { type, object, previous }: SampleChange): string {
  const { merchantAccount } = input.payment
  const event = {
    id: `evt_${input.newId().replaceAll('-', '')}`,
    object: 'event',
    ...(merchantAccount !== null && { account: merchantAccount }),
    api_version: apiVersion,
    created: Math.floor(input.now.getTime() / 1000),
    data: { object, ...(previous !== undefined && { previous_attributes: previous }) },
    livemode: input.payment.live ?? false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
  }
  return JSON.stringify(event, null, 2)
}
