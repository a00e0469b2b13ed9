import { findPayment, insertPayment, isWrittenBy, lockPayments } from '../database/payments.ts'
import { takenBack } from '../database/refunds.ts'
import { minutes } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { moneyText } from '../kernel/money.ts'
import { visibleText } from '../kernel/visible-text.ts'
import type { Payment } from '../payments/payment.ts'
import type { TakenBack } from '../payments/taken-back.ts'
import { refundRow } from '../outcomes/refund-row.ts'
import { gatewayOf } from './ask-provider.ts'
import type { MoneyContext } from './context.ts'
import type { RefundInput } from './refund-input.ts'

/** How long after a refund the provider is polled for the first time. */
const firstPollAfter = minutes(2)

/** A refund that the caller wants. */
export interface WantedRefund {
  readonly id: string
  readonly amount: bigint | undefined
  readonly reason: string | null
  /** Made for this call: with it the call recognizes a row that it wrote itself. */
  readonly token: string
}

/** A refund whose row is written. */
export interface BegunRefund {
  readonly charge: Payment
  readonly refund: Payment
  readonly isWhole: boolean
  /** This call wrote the row, so this call must ask the provider. */
  readonly isNew: boolean
}

/**
 * Under the lock of the charge: what is left is counted and reserved before the provider is asked.
 */
export function beginRefund(
  charge: Payment,
  wanted: WantedRefund,
  context: MoneyContext,
): Promise<BegunRefund> {
  return context.processing.database.transaction(async ({ db }) => {
    const locked = (await lockPayments(db, [charge.id])).get(charge.id) ?? charge
    const known = await findPayment(db, wanted.id)
    if (known !== undefined) {
      const isNew = await isWrittenBy(db, known.id, wanted.token)
      return { ...repeated(known, locked, wanted), isNew }
    }
    if (locked.status !== 'paid') {
      const text = `payment ${locked.id} is ${locked.status}, so there is nothing to refund`
      throw new QuittanceError('payment_not_refundable', text)
    }
    const taken = (await takenBack(db, [locked]))(locked)
    const amount = wanted.amount ?? locked.amount - taken.reserved
    requireLeft(locked, amount, taken)
    const isWhole = amount === locked.amount
    if (!isWhole) requirePartial(locked, context)
    const row = refundRow(locked, {
      id: wanted.id,
      amount,
      providerReference: null,
      description: wanted.reason,
      isHanded: true,
      firstPollAfter,
    })
    const refund = await insertPayment(db, row, wanted.token)
    if (refund === undefined) throw exists(wanted.id)
    return { charge: locked, refund, isWhole, isNew: true }
  })
}

/** What must be the same for a call to be a repetition: everything that the caller chose. */
const compared: Readonly<
  Record<keyof RefundInput, (known: Payment, wanted: WantedRefund) => boolean>
> = {
  id: (known, wanted) => known.id === wanted.id,
  amount: (known, { amount = known.amount }) => known.amount === amount,
  reason: (known, wanted) => known.description === wanted.reason,
}

/** The existing refund: requested before, or written by a commit whose answer was lost. */
function repeated(
  known: Payment,
  charge: Payment,
  wanted: WantedRefund,
): Omit<BegunRefund, 'isNew'> {
  const isOurs = known.type === 'refund' && known.parentId === charge.id
  const isSame = Object.values(compared).every((isEqual) => isEqual(known, wanted))
  if (!isOurs || !isSame) throw exists(known.id)
  return { charge, refund: known, isWhole: known.amount === charge.amount }
}

function exists(id: string): QuittanceError {
  return new QuittanceError('refund_exists', `refund ${id} exists already with other content`)
}

function requireLeft(charge: Payment, amount: bigint, { reserved, disputes }: TakenBack): void {
  const left = charge.amount - reserved
  if (amount > 0n && amount <= left) return
  const rest = left <= 0n ? 'nothing' : moneyText({ amount: left, currency: charge.currency })
  const text = `of payment ${charge.id}, ${rest} is left to refund`
  if (disputes.length === 0) throw new QuittanceError('refund_too_large', text)
  const names = disputes.map((one) => visibleText(one)).join(', ')
  throw new QuittanceError('refund_too_large', `${text}, for it is disputed: ${names}`, {
    fix: 'The bank takes it back, or has: a refund would pay it twice. Refund once the dispute is won.',
  })
}

function requirePartial(charge: Payment, context: MoneyContext): void {
  const { gateway } = gatewayOf(charge, context)
  if (gateway.partialRefund === true) return
  const text = `${gateway.title} refunds the whole of a payment or nothing`
  throw new QuittanceError('operation_unsupported', text)
}
