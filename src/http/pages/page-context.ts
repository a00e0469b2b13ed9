import type { BillingCore } from '../../billing/types.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Duration } from '../../kernel/duration.ts'
import { isUuid } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import type { Payment } from '../../payments/payment.ts'

/** What the pages are made with. */
export interface PageContext {
  readonly core: BillingCore
  readonly log: Log
  readonly now: Clock
  readonly limits: StreamLimits
  /** The service stops: streams end, and browsers connect to whoever takes over. */
  readonly closing: AbortSignal | undefined
}

/** How payers' browsers may follow the status of a payment. */
export interface StreamLimits {
  /** Open at once, at most. */
  readonly streams: number
  /** One ends after so long; the browser opens the next. */
  readonly streamLasts: Duration
  /** Between two looks into the database, for all of them together. */
  readonly lookEvery: Duration
}

/** The payment of a page's address; what is no id of ours costs no look into the database. */
export async function findCharge(core: BillingCore, id: string): Promise<Payment | undefined> {
  if (!isUuid(id)) return undefined
  const payment = await core.payments.get(id)
  return payment?.type === 'charge' ? payment : undefined
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
