import { systemClock } from '../kernel/clock.ts'
import { refundPayment } from '../money/refund-payment.ts'
import { backfill } from '../upkeep/backfill.ts'
import { reconcile } from '../upkeep/reconcile.ts'
import { refuseInsideListener } from '../listeners/listener-scope.ts'
import {
  readRegistration,
  registerWebhook,
  removeEndpoints,
  type Registering,
} from '../upkeep/register-webhook.ts'
import { operating } from './handles.ts'
import { addressesOf } from './payments.ts'
import type { Runtime } from './runtime.ts'
import type { BillingCore } from './types.ts'

type ProviderOperations = Pick<BillingCore, 'refunds' | 'backfill' | 'registration' | 'reconcile'>

/** What a provider is asked to do, or to tell, beside what concerns one payment. */
export function providerOperations(runtime: Runtime): ProviderOperations {
  return {
    refunds: {
      create: async (paymentId, input = {}) =>
        refundPayment(paymentId, input, await operating(runtime, 'billing.refunds.create')),
    },
    backfill: async (backfillOptions) =>
      backfill(
        backfillOptions,
        await operating(runtime, 'billing.backfill'),
        await runtime.intake(),
      ),
    registration: {
      read: async (gateway) => readRegistration(gateway, registering(runtime)),
      register: async (gateway) => registerWebhook(gateway, registering(runtime)),
      remove: async (gateway, ids) => removeEndpoints(gateway, ids, registering(runtime)),
    },
    reconcile: async (reconcileOptions = {}) =>
      reconcile(await operating(runtime, 'billing.reconcile'), reconcileOptions),
  }
}

/** Of all that operations need, what there is before the database is open. */
function registering({ settings }: Runtime): Registering {
  refuseInsideListener('billing.registration', 'gateway_call_in_transaction')
  const { gateways, log, answerWithin } = settings
  return {
    addresses: addressesOf(settings),
    processing: { gateways, log },
    answerWithin,
    now: systemClock,
  }
}
