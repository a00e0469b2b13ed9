import type { Account } from './paddle/account.ts'
import type { Span } from './paddle/entities.ts'
import { subscriptionOf } from './paddle/subscriptions.ts'
import type { Lives } from './stripe/life.ts'

/** What truly happened to a subscription at its provider, whatever anybody was told of it. */
export interface Ledger {
  /** What was paid for, in the order of its starts. */
  readonly sales: readonly Sale[]
  readonly endedAt: Date | null
}

export interface Sale {
  readonly startsAt: Date
  readonly soldUntil: Date
  /** Exclusive; the provider may have given more than was sold. */
  readonly endsAt: Date
  readonly amount: bigint
  /** Its charge says for which time it is. */
  readonly isDated: boolean
}

const byStart = (one: Sale, other: Sale) => one.startsAt.getTime() - other.startsAt.getTime()

export function stripeLedger(lives: Lives, paymentId: string): Ledger {
  const { invoices, endedAt } = lives.of(paymentId)
  const timeOf = (seconds: number) => new Date(seconds * 1000)
  const sales = invoices
    .filter(({ status, amount }) => status === 'paid' && amount > 0n)
    .map(({ period, amount, lines }) => ({
      startsAt: timeOf(period.start),
      soldUntil: timeOf(period.end),
      endsAt: timeOf(period.end),
      amount,
      isDated: lines === 'period',
    }))
  return { sales: sales.toSorted(byStart), endedAt: endedAt === null ? null : timeOf(endedAt) }
}

export function paddleLedger(account: Account, paymentId: string): Ledger {
  const { id, canceledAt, paidUntil } = subscriptionOf(account, paymentId)
  const saleOf = (span: Span, amount: bigint): Sale => {
    const endsAt = new Date(paidUntil.get(span.starts_at) ?? span.ends_at)
    const soldUntil = new Date(span.ends_at)
    return { startsAt: new Date(span.starts_at), soldUntil, endsAt, amount, isDated: true }
  }
  const sales = account.transactions.flatMap(
    ({ subscriptionId, status, origin, period, amount }) => {
      const isPeriod = origin !== 'subscription_charge' && period !== undefined
      const isPaid = subscriptionId === id && status === 'completed' && amount > 0n
      return isPaid && isPeriod ? [saleOf(period, amount)] : []
    },
  )
  return {
    sales: sales.toSorted(byStart),
    endedAt: canceledAt === null ? null : new Date(canceledAt),
  }
}
