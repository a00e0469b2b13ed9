import { standingsOf } from '../../billing/standings-of.ts'
import type { BillingCore } from '../../billing/types.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Duration } from '../../kernel/duration.ts'
import { withUuid } from '../../kernel/uuid.ts'
import type { Log } from '../../kernel/log.ts'
import type { Payment } from '../../payments/payment.ts'
import type { PaymentStanding } from '../../payments/standing.ts'
import { shareLooks } from '../share-looks.ts'

/** A charge, and how it stands for its payer. */
export interface ShownPayment {
  readonly payment: Payment
  readonly standing: PaymentStanding
}

/** What the pages need. */
export interface PageContext {
  readonly core: BillingCore
  /** The payment of a page's address; anything that is not our kind of id costs no query. */
  readonly findCharge: (id: string) => Promise<ShownPayment | undefined>
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

export function chargeFinder(core: BillingCore): PageContext['findCharge'] {
  const find = shareLooks(async (id): Promise<ShownPayment | undefined> => {
    const payment = await core.payments.find(id)
    if (payment?.type !== 'charge') return undefined
    return { payment, standing: (await standingsOf(core, [payment]))(payment) }
  })
  return async (id) => withUuid(id, find)
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
