import { refundPayment } from '../money/refund-payment.ts'
import { backfill } from '../upkeep/backfill.ts'
import { reconcile } from '../upkeep/reconcile.ts'
import { readRegistration, registerWebhook, removeEndpoints } from '../upkeep/register-webhook.ts'
import { operating } from './handles.ts'
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
      read: async (gateway) =>
        readRegistration(gateway, await operating(runtime, 'billing.registration')),
      register: async (gateway) =>
        registerWebhook(gateway, await operating(runtime, 'billing.registration')),
      remove: async (gateway, ids) =>
        removeEndpoints(gateway, ids, await operating(runtime, 'billing.registration')),
    },
    reconcile: async (reconcileOptions = {}) =>
      reconcile(await operating(runtime, 'billing.reconcile'), reconcileOptions),
  }
}
