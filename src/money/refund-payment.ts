import { recordRefundAnswer, takenBack } from '../database/refunds.ts'
import { findPayment, insertPayment, isWrittenBy, lockPayments } from '../database/payments.ts'
import type { RefundReply } from '../gateways/operations.ts'
import { minutes } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { moneyText } from '../kernel/money.ts'
import { visibleText } from '../kernel/visible-text.ts'
import { refundRow } from '../outcomes/further-row.ts'
import type { Payment } from '../payments/payment.ts'
import type { TakenBack } from '../payments/taken-back.ts'
import { applyReport } from '../processing/apply-report.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import { requireOperation } from '../gateways/require.ts'
import { askOnce, failureText, gatewayOf, isRefusal } from './ask-provider.ts'
import type { MoneyContext } from './context.ts'
import { requireCharge } from './require-charge.ts'
import { readRefundInput, type CreateRefundInput, type RefundInput } from './refund-input.ts'
import { statementOf } from './statement.ts'

/**
 * Refunds a paid payment, in whole or in part: writes the refund's row, then sends one request to
 * the provider with no transaction open, then records the result. With an id of the caller's, a
 * repeated call returns the same refund and sends no request. Errors: `payment_not_found`,
 * `payment_not_refundable`, `refund_invalid`, `refund_exists`, `refund_too_large`,
 * `operation_unsupported`, `gateway_not_configured`; `refund_refused` if the provider said no;
 * `refund_unknown` if that is unknown: the row stays pending, and a poll finds out.
 */
export async function refundPayment(
  paymentId: string,
  input: CreateRefundInput,
  context: MoneyContext,
): Promise<Payment> {
  const { id, amount, reason = null } = readRefundInput(input)
  const charge = await requireCharge(paymentId, context)
  requireOperation(gatewayOf(charge, context), 'refund')
  const token = context.processing.newId()
  const wanted: WantedRefund = { id: id ?? token, amount, reason, token }
  const begun = await retryPassing(
    () => beginRefund(charge, wanted, context),
    context.processing.random,
  )
  if (!begun.isNew) return begun.refund
  let reply: RefundReply
  try {
    reply = await request(begun, context)
  } catch (error) {
    throw await recordFailure(begun.refund, context, error)
  }
  await recordAnswer(begun.refund, null, context)
  await reportRefund(begun.refund, reply, { context, cause: 'refund' })
  if (reply.status === 'failed') {
    const said = `the provider refused it${reply.code === undefined ? '' : ` (${reply.code})`}`
    throw refused(begun.refund, said, reply.code)
  }
  return current(begun.refund, context)
}

/** From now on reports of sums need not wait for it. */
function recordAnswer(
  { id }: Payment,
  error: string | null,
  { processing }: MoneyContext,
): Promise<void> {
  const { database, random } = processing
  return retryPassing(() => recordRefundAnswer(database.db, id, error), random)
}

/** The one request that moves the money. */
function request(
  { charge, refund, isWhole }: BegunRefund,
  context: MoneyContext,
): Promise<RefundReply> {
  const found = gatewayOf(charge, context)
  const ask = requireOperation(found, 'refund')
  const reason = refund.description
  const describe = () => `refund ${refund.id}`
  return askOnce(
    { of: found, operation: 'refund', payment: charge, describe },
    { ...context, row: refund },
    (operation) => ask({ payment: charge, refund, isWhole, reason }, operation),
  )
}

async function recordFailure(
  refund: Payment,
  context: MoneyContext,
  error: unknown,
): Promise<QuittanceError> {
  const { processing } = context
  const text = failureText(error, context)
  processing.log.warn({ err: error, refund: refund.id }, 'a refund was not answered with a yes')
  await recordAnswer(refund, text, context)
  if (!isRefusal(error)) {
    return new QuittanceError('refund_unknown', `refund ${refund.id}: ${text}`)
  }
  await reportRefund(refund, { status: 'failed' }, { context, cause: 'refund' })
  return refused(refund, text, error.providerCode)
}

function refused(refund: Payment, said: string, providerCode?: string): QuittanceError {
  return new QuittanceError('refund_refused', `refund ${refund.id}: ${said}`, { providerCode })
}

async function current(refund: Payment, { processing }: MoneyContext): Promise<Payment> {
  return (await findPayment(processing.database.db, refund.id)) ?? refund
}

/** How long after a refund the provider is polled for the first time. */
const firstPollAfter = minutes(2)

/** A refund that the caller wants. */
interface WantedRefund {
  readonly id: string
  readonly amount: bigint | undefined
  readonly reason: string | null
  /** Made for this call: with it the call recognizes a row that it wrote itself. */
  readonly token: string
}

/** A refund whose row is written. */
interface BegunRefund {
  readonly charge: Payment
  readonly refund: Payment
  readonly isWhole: boolean
  /** This call wrote the row, so this call must ask the provider. */
  readonly isNew: boolean
}

/**
 * Under the lock of the charge: what is left is counted and reserved before the provider is asked.
 */
function beginRefund(
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

/** What a provider said of a refund that we requested. */
interface RefundAnswer {
  readonly status: 'paid' | 'pending' | 'failed'
  readonly reference?: string
}

/** Applies the result of one of our refunds, to its row and to no other. */
export async function reportRefund(
  refund: Payment,
  { status, reference }: RefundAnswer,
  { context, cause }: { readonly context: MoneyContext; readonly cause: 'poll' | 'refund' },
): Promise<void> {
  const { id, parentId, gateway, amount, currency } = refund
  if (parentId === null) throw new Error(`refund ${id} has no charge`)
  await applyReport(
    {
      gateway,
      cause,
      queue: context.queue,
      outcomes: [
        {
          type: 'refund',
          payment: { id: parentId },
          status,
          amount,
          currency,
          refundId: id,
          ...(reference !== undefined && { refundReference: reference }),
          ...statementOf(refund),
        },
      ],
    },
    context.processing,
  )
}
