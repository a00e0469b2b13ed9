import type { Gateway } from './gateway.ts'

/** What a gateway can do besides taking callbacks. */
export interface Capabilities {
  readonly checkout: boolean
  readonly refund: boolean
  readonly partialRefund: boolean
  readonly poll: boolean
  readonly registerWebhook: boolean
  /** Saved cards can be charged. */
  readonly savedCards: boolean
}

/** A gateway can do whatever it has an operation for. */
export function capabilitiesOf(gateway: Gateway): Capabilities {
  const refund = gateway.refund !== undefined
  return {
    checkout: gateway.checkout !== undefined,
    refund,
    partialRefund: refund && gateway.partialRefund === true,
    poll: gateway.poll !== undefined,
    registerWebhook: gateway.registration !== undefined,
    savedCards: gateway.chargeSavedCard !== undefined,
  }
}
