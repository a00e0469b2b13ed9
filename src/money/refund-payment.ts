import { recordRefundAnswer } from '../database/refunds.ts'
import { findPayment } from '../database/payments.ts'
import type { RefundReply } from '../gateways/operations.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { insist } from '../queue/insist.ts'
import { requireOperation } from '../gateways/require.ts'
import { beginRefund, type BegunRefund, type WantedRefund } from './begin-refund.ts'
import { askOnce, failureText, gatewayOf, isRefusal } from './ask-provider.ts'
import type { MoneyContext } from './context.ts'
import { requireCharge } from './require-charge.ts'
import { readRefundInput, type CreateRefundInput } from './refund-input.ts'
import { reportRefund } from './report-refund.ts'

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
  const begun = await insist(() => beginRefund(charge, wanted, context), context.processing.random)
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
  return insist(() => recordRefundAnswer(database.db, id, error), random)
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
