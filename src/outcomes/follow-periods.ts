import type { Kysely } from 'kysely'
import type { ChangeOrigin } from '../database/subscription-changes.ts'
import type { Tables } from '../database/tables.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Payment, PaymentStatus } from '../payments/payment.ts'
import type { ApplyContext, Entry, Report } from './applied.ts'
import type { FoundPayments } from './find-payments.ts'
import { grantPeriods, movedOfPeriods } from './grant-periods.ts'
import type { StatedTime } from '../subscriptions/change.ts'

/** What was applied, and the payments as they were before and are now. */
interface Followed extends Pick<FoundPayments, 'payments' | 'ids'> {
  readonly entries: readonly Entry[]
  readonly before: ReadonlyMap<string, PaymentStatus>
  /** Subscriptions that their provider manages, and that are changed later in this transaction. */
  readonly alsoLockedIds: readonly string[]
}

/**
 * What follows for subscriptions once payments have moved; no statement where none of them is of a
 * period. Their cards come later in the transaction: those subscriptions are locked now, too.
 */
export async function followPeriods(
  db: Kysely<Tables>,
  { entries, before, payments, ids, alsoLockedIds }: Followed,
  applying: ApplyContext,
): Promise<void> {
  const reports = new Map(entries.map((entry) => [ids.get(entry), entry]))
  const moved = movedOfPeriods(before, payments).flatMap((payment) => {
    const entry = reports.get(payment.id)
    if (entry === undefined) return []
    const stated = timeStated(entries, { payment, ids })
    const writing = writingOf(entry.report, applying.newId)
    return [{ payment, writing, stated }]
  })
  const cards = entries.filter(({ outcome }) => outcome.type === 'payment_method')
  const alsoLocked = cards.flatMap((entry) => payments.get(ids.get(entry) ?? '')?.periodId ?? [])
  await grantPeriods(db, { moved, alsoLocked, alsoLockedIds }, applying)
}

/** The time that the payment pays for, if one of its reports says so: not all of them do. */
function timeStated(
  entries: readonly Entry[],
  { payment, ids }: Pick<FoundPayments, 'ids'> & { readonly payment: Payment },
): StatedTime {
  const reports = entries.flatMap((entry) => {
    const { outcome } = entry
    const isIts = outcome.type === 'payment' && ids.get(entry) === payment.id
    return isIts && outcome.status === payment.status ? outcome : []
  })
  const period = reports.find((outcome) => outcome.period !== undefined)?.period
  const chargedAt = reports.find((outcome) => outcome.chargedAt !== undefined)?.chargedAt
  return { ...period, ...(chargedAt !== undefined && { chargedAt }) }
}

/** How what follows from a report is written. */
export function writingOf(
  { cause, callId, queue = 'default' }: Report,
  newId: NewId,
): ChangeOrigin {
  return { newId, cause, callId, queue }
}
