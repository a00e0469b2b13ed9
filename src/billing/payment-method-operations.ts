import { findPaymentMethod, listPaymentMethods } from '../database/payment-methods.ts'
import { withUuid } from '../kernel/uuid.ts'
import { removeSavedCard } from '../money/remove-saved-card.ts'
import { entitled, handle } from './handles.ts'
import { checked, paymentMethodsQuery } from './list-queries.ts'
import type { Runtime } from './runtime.ts'
import type { BillingCore } from './types.ts'

/** `billing.paymentMethods` */
export function paymentMethodOperations(runtime: Runtime): BillingCore['paymentMethods'] {
  return {
    get: async (id) => {
      const db = await handle(runtime, 'billing.paymentMethods.get')
      return withUuid(id, (known) => findPaymentMethod(db, known))
    },
    list: async (query = {}) =>
      listPaymentMethods(
        await handle(runtime, 'billing.paymentMethods.list'),
        checked(paymentMethodsQuery, query),
      ),
    remove: async (id) =>
      removeSavedCard(id, await entitled(runtime, 'billing.paymentMethods.remove')),
  }
}
