import type { Money } from '../kernel/money.ts'

/** What takes money of a charge back. */
export type Taking =
  | { readonly kind: 'refund'; readonly status: 'paid' | 'pending'; readonly amount: bigint }
  | {
      /** Not one that was lost by a refund: that counts already. */
      readonly kind: 'dispute'
      readonly status: 'open' | 'lost'
      /** Null: not stated. */
      readonly amount: bigint | null
      readonly currency: string | null
      /** The provider's id of it. */
      readonly reference: string
    }

/** What of a charge went back, in minor units. */
export interface TakenBack {
  readonly refunded: bigint
  /** With what lost disputes took. */
  readonly credited: bigint
  /** With what is on its way back, or at stake in an open dispute: no further refund may take it. */
  readonly reserved: bigint
  /** A dispute is open, or one that was lost took what was not refunded. */
  readonly isDisputed: boolean
  /** The disputes that count, by the provider's ids. */
  readonly disputes: readonly string[]
}

/**
 * Sums it up. Disputes never count for more than refunds have left: a dispute may be over money that
 * was refunded before it. One whose sum is not known in the charge's currency is
 * over all of that.
 */
export function takenBackOf(charge: Money, takings: readonly Taking[]): TakenBack {
  const refunds = (status: 'paid' | 'pending') =>
    sum(takings.map((one) => (one.kind === 'refund' && one.status === status ? one.amount : 0n)))
  const disputed = (status: 'open' | 'lost') =>
    sum(takings.map((one) => (one.kind === 'dispute' && one.status === status ? of(one) : 0n)))
  const of = ({ amount, currency }: Money | Extract<Taking, { kind: 'dispute' }>) =>
    amount === null || currency !== charge.currency ? charge.amount : amount
  const [refunded, underWay] = [refunds('paid'), refunds('pending')]
  const lost = least(disputed('lost'), charge.amount - refunded)
  const atStake = least(lost + disputed('open'), charge.amount - refunded - underWay)
  const isOpen = takings.some((one) => one.kind === 'dispute' && one.status === 'open')
  return {
    refunded,
    credited: refunded + lost,
    reserved: refunded + underWay + atStake,
    isDisputed: isOpen || lost > 0n,
    disputes: takings.flatMap((one) => (one.kind === 'dispute' ? [one.reference] : [])),
  }
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((all, amount) => all + amount, 0n)
}

/** At most what is left, which is nothing where more went back than was charged. */
function least(amount: bigint, left: bigint): bigint {
  const most = left > 0n ? left : 0n
  return amount < most ? amount : most
}
