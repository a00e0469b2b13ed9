import type { RefundOutcome, SingleRefundOutcome } from './outcome.ts'
import type { Payment } from './payment.ts'
import type { IgnoredReason } from './reasons.ts'

/** A refund's row, and what else is known of it. */
export interface RefundRow {
  readonly refund: Payment
  /** Its event has been claimed. */
  readonly claimed: boolean
  /** The provider is being asked for it right now: its answer says what became of it. */
  readonly underWay: boolean
}

/**
 * Which row a report of a refund is about; `none`: nothing has been refunded; `wait`: it is unknown
 * until the refunds under way are answered.
 */
export type RefundMatch =
  | { readonly kind: 'found'; readonly row: RefundRow }
  | { readonly kind: 'new'; readonly amount: bigint; readonly reference: string | null }
  | { readonly kind: 'mismatch'; readonly reason: IgnoredReason }
  | { readonly kind: 'none' }
  | { readonly kind: 'wait' }

/**
 * Finds the row that a report means among those of the charge, oldest first: by the provider's id
 * of the refund, else by ours, else one of equal amount that the provider has not named yet: our
 * own pending one, or one known from a running total. Otherwise it is a new one. If only a running
 * total is reported, the refund is the amount by which it exceeds the known refunds: those of our
 * pending ones that add up to it, one after another, or else a new one.
 */
export function matchRefund(
  outcome: RefundOutcome,
  charge: Payment,
  rows: readonly RefundRow[],
): RefundMatch {
  if (outcome.currency !== charge.currency) return mismatch
  return 'refundedTotal' in outcome
    ? matchTotal(outcome.refundedTotal, rows)
    : matchSingle(outcome, rows)
}

const mismatch = { kind: 'mismatch', reason: 'amount_mismatch' } as const
const settledOtherwise = { kind: 'mismatch', reason: 'already_settled' } as const

function matchSingle(outcome: SingleRefundOutcome, rows: readonly RefundRow[]): RefundMatch {
  const { status, amount, refundReference, refundId } = outcome
  // The answer to our own request is about that request's row, and no other.
  if (refundReference === undefined) {
    const own = rows.find(({ refund }) => refund.id === refundId)
    if (own === undefined) return mismatch
    // That nothing was done does not contradict what has been reported about the row since.
    const isOvertaken = own.refund.status !== 'pending' || own.refund.providerReference !== null
    return status === 'failed' && isOvertaken ? settledOtherwise : { kind: 'found', row: own }
  }
  const row =
    rows.find(({ refund }) => refund.providerReference === refundReference) ??
    rows.find(({ refund }) => refund.id === refundId && refund.providerReference === null) ??
    // What a total counted did go back, and ours still may: a refusal is about another one.
    (status === 'paid' || status === 'pending'
      ? (ownPending(rows, amount) ?? unnamed(rows, amount))
      : undefined)
  if (row !== undefined) {
    const differs = amount !== undefined && amount !== row.refund.amount
    return differs ? mismatch : { kind: 'found', row }
  }
  if (amount === undefined || amount <= 0n) return mismatch
  return { kind: 'new', amount, reference: refundReference }
}

function matchTotal(total: bigint, rows: readonly RefundRow[]): RefundMatch {
  const paid = rows.filter(({ refund }) => refund.status === 'paid')
  const amount = total - sumOf(paid)
  if (amount > 0n) {
    if (rows.some(({ underWay }) => underWay)) return { kind: 'wait' }
    const row = firstCounted(rows, amount)
    return row === undefined ? { kind: 'new', amount, reference: null } : { kind: 'found', row }
  }
  // Known already; but an event that was never dispatched is due.
  const due = paid.find(({ claimed }) => !claimed) ?? paid.at(-1)
  const row = total > 0n ? due : undefined
  return row === undefined ? { kind: 'none' } : { kind: 'found', row }
}

/** A refund known from a running total alone: the provider names it only now. */
function unnamed(rows: readonly RefundRow[], amount: bigint | undefined): RefundRow | undefined {
  return rows.find(
    ({ refund }) =>
      refund.status === 'paid' && refund.providerReference === null && refund.amount === amount,
  )
}

/** A refund that we requested, whose id the provider has not given yet. */
function ownPending(rows: readonly RefundRow[], amount: bigint | undefined): RefundRow | undefined {
  return rows.find((row) => isOwnPending(row) && !row.underWay && row.refund.amount === amount)
}

function isOwnPending({ refund }: RefundRow): boolean {
  return refund.status === 'pending' && refund.providerReference === null
}

/**
 * This many can be tried in every combination; nobody refunds one payment in more parts at once.
 */
const mostCombined = 12

/**
 * The first of the pending refunds that a difference is made of: ours before those that the
 * provider has named. If it covers all of them together, ours are counted too.
 */
function firstCounted(rows: readonly RefundRow[], amount: bigint): RefundRow | undefined {
  const pending = rows.filter(({ refund }) => refund.status === 'pending')
  const ours = pending.filter(isOwnPending)
  const exact = addingUpTo(ours.slice(0, mostCombined), amount)
  const any = exact ?? addingUpTo(pending.slice(0, mostCombined), amount)
  if (any !== undefined) return any[0]
  return sumOf(ours) <= amount ? ours[0] : undefined
}

/** Rows, oldest first, whose amounts add up to exactly this. */
function addingUpTo(rows: readonly RefundRow[], amount: bigint): readonly RefundRow[] | undefined {
  const [first, ...others] = rows
  if (first === undefined) return undefined
  if (first.refund.amount === amount) return [first]
  const rest = addingUpTo(others, amount - first.refund.amount)
  return rest === undefined ? addingUpTo(others, amount) : [first, ...rest]
}

function sumOf(rows: readonly RefundRow[]): bigint {
  return rows.reduce((sum, { refund }) => sum + refund.amount, 0n)
}
