import { systemClock } from '../kernel/clock.ts'
import { refuseInsideListener } from '../listeners/listener-scope.ts'
import { readRegistration, type RegistrationContext } from '../upkeep/read-registration.ts'
import { registerWebhook, removeEndpoints } from '../upkeep/register-webhook.ts'
import { addressesOf } from './money-context.ts'
import type { Runtime } from './runtime.ts'
import type { BillingCore } from './types.ts'

/** `billing.registration` */
export function registrationOperations(runtime: Runtime): BillingCore['registration'] {
  return {
    read: async (gateway) => readRegistration(gateway, contextOf(runtime)),
    register: async (gateway) => registerWebhook(gateway, contextOf(runtime)),
    remove: async (gateway, ids) => removeEndpoints(gateway, ids, contextOf(runtime)),
  }
}

/** The part of the operations' context that exists before the database is open. */
function contextOf({ settings, numbers }: Runtime): RegistrationContext {
  refuseInsideListener('billing.registration', 'gateway_call_in_transaction')
  const { gateways, log, scrub, answerWithin } = settings
  return {
    addresses: addressesOf(settings),
    processing: { gateways, log, numbers, scrub },
    answerWithin,
    now: systemClock,
  }
}
