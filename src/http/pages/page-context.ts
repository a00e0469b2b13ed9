import type { BillingCore } from '../../billing/types.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Duration } from '../../kernel/duration.ts'
import { withUuid } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import type { Payment } from '../../payments/payment.ts'
import { shareLooks } from '../share-looks.ts'

/** What the pages need. */
export interface PageContext {
  readonly core: BillingCore
  /** The payment of a page's address; anything that is not our kind of id costs no query. */
  readonly findCharge: (id: string) => Promise<Payment | undefined>
  readonly log: Log
  readonly now: Clock
  readonly limits: StreamLimits
  /** The service stops: streams end, and browsers reconnect to another process. */
  readonly closing: AbortSignal | undefined
}

/** How payers' browsers may follow the status of a payment. */
export interface StreamLimits {
  /** Open at once, at most. */
  readonly streams: number
  /** For one address, once three quarters of them are open: behind a proxy all come from one. */
  readonly perAddress: number
  readonly perPayment: number
  /** A stream ends after this long; the browser opens the next. */
  readonly streamLasts: Duration
  /** Between two queries, for all of them together. */
  readonly lookEvery: Duration
}

export function chargeFinder({ payments }: BillingCore): PageContext['findCharge'] {
  const find = shareLooks((id) => payments.find(id))
  return async (id) => {
    const payment = await withUuid(id, find)
    return payment?.type === 'charge' ? payment : undefined
  }
}

export function payPath({ id }: Payment): string {
  return `/billing/pay/${id}`
}

/** Where a browser comes back to after the checkout. */
export function returnPath(id: string): string {
  return `/billing/return/${id}`
}

/** Whether the checkout still takes money. */
export function isPayable(payment: Payment, now: Date): boolean {
  const { status, checkout } = payment
  return (
    checkout === 'open' && (status === 'pending' || status === 'failed') && !isOver(payment, now)
  )
}

export function isOver({ expiresAt }: Payment, now: Date): boolean {
  return expiresAt !== null && now >= expiresAt
}
