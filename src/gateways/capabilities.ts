import type { Capabilities } from '../wire/gateway.ts'
import type { Gateway } from './gateway.ts'

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
    subscriptions: gateway.subscriptions !== undefined,
  }
}
