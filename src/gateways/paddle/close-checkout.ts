import { isQuittanceError } from '../../kernel/errors.ts'
import { textOf } from '../body/json.ts'
import type { OperationContext, PollRequest } from '../operations.ts'
import { replyInvalid, requirePaddleApi } from './api.ts'
import { findTransaction } from './find-transaction.ts'
import { isId } from './payload.ts'
import { standingOf } from './poll.ts'

/**
 * Cancels the transaction where Paddle lets us: one that is `ready` or `billed`. A `draft`, which
 * every checkout is until its payer has said who he is, cannot be canceled: it is `closed` all the
 * same, for all that anybody can do about it. It is not offered any more; if it is paid
 * nevertheless, the payment becomes paid.
 * https://developer.paddle.com/errors/transactions/transaction_invalid_status_change
 */
export async function closeCheckout(
  request: PollRequest,
  context: OperationContext,
): Promise<'closed' | 'not_open'> {
  const api = requirePaddleApi(context)
  const id = request.payment.checkoutReference ?? (await findTransaction(api, request))?.get('id')
  if (!isId(id, 'txn_')) return 'not_open'
  try {
    const transaction = await api.patch('transactions', id, { status: 'canceled' })
    if (transaction.get('status') === 'canceled') return 'closed'
    throw replyInvalid(`PATCH /transactions/${id}`)
  } catch (error) {
    if (!isAboutTransaction(error)) throw error
  }
  const payment = { ...request.payment, checkoutReference: id }
  const transaction = await findTransaction(api, { ...request, payment })
  const status = textOf(transaction?.get('status'))
  const isDraft = status === 'draft' || status === 'ready'
  if (transaction === undefined || !isDraft || standingOf(transaction) !== 'open') return 'not_open'
  context.log.info({ payment: payment.id }, 'Paddle cannot cancel a checkout that nobody has begun')
  return 'closed'
}

/** A refusal for the state it is in, or because there is none. */
function isAboutTransaction(error: unknown): boolean {
  if (!isQuittanceError(error) || error.code !== 'provider_refused') return false
  const { providerCode = '' } = error
  return providerCode === 'not_found' || providerCode.startsWith('transaction_')
}
