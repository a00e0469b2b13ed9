import { isQuittanceError } from '../../kernel/errors.ts'
import { textOf } from '../body/json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { PollRequest } from '../operations.ts'
import { replyInvalid, requirePaddleApi } from './api.ts'
import { findTransaction } from './find-transaction.ts'
import { isId } from './payload.ts'
import { standingOf } from './poll.ts'

/**
 * Cancels the transaction if Paddle allows it, that is, if it is `ready` or `billed`. Every
 * checkout is a `draft` until its payer has entered their details, and a `draft` cannot be
 * canceled. It counts as `closed` all the same, because nothing more can be done: it is no longer
 * offered, and if it is paid nevertheless, the payment becomes paid.
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

/** A refusal because of the state it is in, or because it does not exist. */
function isAboutTransaction(error: unknown): boolean {
  if (!isQuittanceError(error) || error.code !== 'provider_refused') return false
  const { providerCode = '' } = error
  return providerCode === 'not_found' || providerCode.startsWith('transaction_')
}
