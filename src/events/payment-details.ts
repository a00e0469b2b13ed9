import type { Dispute } from '../payments/dispute.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { Payment, PaymentTransition } from '../payments/payment.ts'
import type { DeferredEvent, EventRecord } from './event-record.ts'

/** A payment with its whole history, each list oldest first. */
export interface PaymentDetails extends Payment {
  readonly transitions: readonly PaymentTransition[]
  readonly events: readonly EventRecord[]
  /**
   * Events, including those of its refunds, that wait for a retry of their listeners, or have
   * failed.
   */
  readonly deferredEvents: readonly DeferredEvent[]
  readonly refunds: readonly Payment[]
  readonly disputes: readonly Dispute[]
  /** The cards that were saved with this payment. */
  readonly paymentMethods: readonly PaymentMethod[]
}
