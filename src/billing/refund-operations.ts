import { refundPayment } from '../money/refund-payment.ts'
import { entitled } from './handles.ts'
import type { Runtime } from './runtime.ts'
import type { BillingCore } from './types.ts'

/** `billing.refunds` */
export function refundOperations(runtime: Runtime): BillingCore['refunds'] {
  return {
    create: async (paymentId, input = {}) =>
      refundPayment(paymentId, input, await entitled(runtime, 'billing.refunds.create')),
  }
}
