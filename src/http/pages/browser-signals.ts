import type { BillingCore, BrowserEventType } from '../../billing/types.ts'
import type { Log } from '../../kernel/log.ts'
import type { Payment } from '../../payments/payment.ts'

/** Tells listeners what a payer's browser did; no page waits for it or fails by it. */
export type SendSignal = (type: BrowserEventType, payment: Payment) => void

/** A page that is opened many times at once sends one: the others would only wait for it. */
export function browserSignals(core: BillingCore, log: Log): SendSignal {
  const underWay = new Set<string>()
  return (type, payment) => {
    const key = `${type} ${payment.id}`
    if (underWay.has(key)) return
    underWay.add(key)
    void core.payments
      .signal(type, payment)
      .catch((error: unknown) => log.warn({ err: error, payment: payment.id }, `${type} was lost`))
      .finally(() => underWay.delete(key))
  }
}
