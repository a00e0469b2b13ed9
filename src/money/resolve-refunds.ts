import { refundsOf } from '../database/refunds.ts'
import { schedulePoll } from '../database/due-payments.ts'
import type { PollReply } from '../gateways/operations.ts'
import { hours } from '../kernel/duration.ts'
import type { Payment } from '../payments/payment.ts'
import type { Applied } from '../outcomes/applied.ts'
import type { MoneyContext } from './context.ts'
import { pollInterval } from './poll-schedule.ts'
import { reportRefund } from './report-refund.ts'

/** A provider that does not list a refund by then never got the request. */
const usualLag = hours(1)

/** A poll whose outcomes are applied. */
interface AppliedReply {
  readonly reply: PollReply
  readonly applied: readonly Applied[]
  /** Why a person should look at it: until then no refund counts as failed. */
  readonly review: string | undefined
  readonly now: Date
}

/**
 * What a poll means for refunds whose request was never answered, once its outcomes are applied: a
 * refund that the provider does not list was not made. The others are polled again.
 */
export async function resolveRefunds(
  charge: Payment,
  { reply, applied, review, now }: AppliedReply,
  context: MoneyContext,
): Promise<void> {
  const { db } = context.processing.database
  const isClear = review === undefined && reply.standing === 'paid'
  const listsRefunds = isClear && reply.listsRefunds && areAllKnown(applied)
  for (const { refund } of await refundsOf(db, charge.id)) {
    if (refund.status !== 'pending') continue
    const age = now.getTime() - (refund.handedAt ?? refund.createdAt).getTime()
    const { refundsLag = usualLag } = reply
    const isOurs = refund.handedAt !== null && refund.providerReference === null
    if (isOurs && listsRefunds && age > refundsLag) {
      await reportRefund(refund, { status: 'failed' }, { context, cause: 'poll' })
      continue
    }
    await schedulePoll(db, refund.id, { wait: pollInterval(age), error: review ?? null })
  }
}

/** A reported refund that fits no row may be the very one that seems to be missing. */
function areAllKnown(applied: readonly Applied[]): boolean {
  return applied.every(
    (one) =>
      one.kind !== 'ignored' ||
      one.result.type !== 'refund' ||
      one.result.reason === 'already_settled',
  )
}
