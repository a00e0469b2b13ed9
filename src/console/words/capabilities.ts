import type { Capabilities } from '../../wire/gateway.ts'

/** What a gateway can do. */
export const capabilityWords: Readonly<Record<keyof Capabilities, string>> = {
  checkout: 'opens checkouts',
  refund: 'refunds',
  partialRefund: 'refunds parts of a payment',
  poll: 'says how a payment stands, if it is asked',
  registerWebhook: 'registers the callback URL at the provider',
  savedCards: 'charges saved cards',
  subscriptions: 'manages subscriptions',
}
