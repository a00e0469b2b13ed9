import type { IgnoredReason, RefundOutcome, SingleRefundOutcome } from './outcome.ts'
import type { Payment } from './payment.ts'

/** A refund's row, and whether its event has been claimed. */
export interface RefundRow {
  readonly refund: Payment
  readonly claimed: boolean
}

/** Which row a report of a refund is about; `none`: nothing has been refunded. */
export type RefundMatch =
  | { readonly kind: 'found'; readonly row: RefundRow }
  | { readonly kind: 'new'; readonly amount: bigint; readonly reference: string | null }
  | { readonly kind: 'mismatch'; readonly reason: IgnoredReason }
  | { readonly kind: 'none' }

/**
 * Finds the row that a report means among those of the charge, oldest first: by the provider's id
 * of the refund, else by ours, else one of equal amount that the provider has not named yet: our own
 * pending one, or one known from a running total. Else it is a new one.
 * Where only a running total is reported, what it exceeds the known refunds by is the refund.
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

function matchSingle(outcome: SingleRefundOutcome, rows: readonly RefundRow[]): RefundMatch {
  const { status, amount, refundReference, refundId } = outcome
  // What the answer to our own request means is that request's row, and no other.
  if (refundReference === undefined) {
    const own = rows.find(({ refund }) => refund.id === refundId)
    return own === undefined ? mismatch : { kind: 'found', row: own }
  }
  const row =
    rows.find(({ refund }) => refund.providerReference === refundReference) ??
    rows.find(({ refund }) => refund.id === refundId && refund.providerReference === null) ??
    ownPending(rows, amount) ??
    // What a total has counted did go back: a refusal is about another one.
    (status === 'paid' || status === 'pending' ? unnamed(rows, amount) : undefined)
  if (row !== undefined) {
    const differs = amount !== undefined && amount !== row.refund.amount
    return differs ? mismatch : { kind: 'found', row }
  }
  if (amount === undefined || amount <= 0n) return mismatch
  return { kind: 'new', amount, reference: refundReference }
}

function matchTotal(total: bigint, rows: readonly RefundRow[]): RefundMatch {
  const paid = rows.filter(({ refund }) => refund.status === 'paid')
  const amount = total - paid.reduce((sum, { refund }) => sum + refund.amount, 0n)
  if (amount > 0n) {
    const row = ownPending(rows, amount) ?? anyPending(rows, amount)
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

/** A refund that we asked for, of which the provider has told us no id yet. */
function ownPending(rows: readonly RefundRow[], amount: bigint | undefined): RefundRow | undefined {
  return rows.find(
    ({ refund }) =>
      refund.status === 'pending' && refund.providerReference === null && refund.amount === amount,
  )
}

/** A refund that the provider has named before: a total says that it is done, and names none. */
function anyPending(rows: readonly RefundRow[], amount: bigint): RefundRow | undefined {
  return rows.find(({ refund }) => refund.status === 'pending' && refund.amount === amount)
}
