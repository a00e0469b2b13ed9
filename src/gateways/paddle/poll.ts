import { ignored, type Outcome } from '../../payments/outcome.ts'
import { isJsonObject, textOf, type JsonObject } from '../body/json.ts'
import type { OperationContext, PollReply, PollRequest, Standing } from '../operations.ts'
import { adjustmentsOf } from './adjustments.ts'
import { replyInvalid, requirePaddleApi, type PaddleApi } from './api.ts'
import { checkoutIn } from './checkout.ts'
import { findTransaction } from './find-transaction.ts'
import { interpretAdjustment } from './interpret-adjustment.ts'
import { interpretTransaction } from './interpret-transaction.ts'
import { isId } from './payload.ts'

/** What Paddle says of a payment: its transaction, and the adjustments once there is money. */
export async function pollPayment(
  request: PollRequest,
  context: OperationContext,
): Promise<PollReply> {
  const api = requirePaddleApi(context)
  const transaction = await findTransaction(api, request)
  if (transaction === undefined) {
    const outcomes = [ignored('no_outcome', 'no such transaction')]
    return { outcomes, standing: 'absent', listsRefunds: false }
  }
  const status = textOf(transaction.get('status')) ?? ''
  const charge = await interpretTransaction({ type: eventType(status), data: transaction }, api)
  const adjustments = isCharged(status) ? await readAdjustments(api, transaction) : undefined
  return {
    outcomes: [charge, ...(adjustments?.outcomes ?? [])],
    standing: standingOf(status, transaction),
    ...(request.payment.checkoutReference === null && { checkout: checkoutIn(transaction) }),
    listsRefunds: adjustments?.isWhole ?? false,
  }
}

/** The event that a transaction in this state was told by. */
function eventType(status: string): string {
  if (isCharged(status) || status === 'canceled') return `transaction.${status}`
  return 'transaction.payment_failed'
}

function isCharged(status: string): boolean {
  return status === 'paid' || status === 'completed'
}

interface Adjustments {
  readonly outcomes: readonly Outcome[]
  /** Whatever is a refund could be read. */
  readonly isWhole: boolean
}

async function readAdjustments(api: PaddleApi, transaction: JsonObject): Promise<Adjustments> {
  const id = transaction.get('id')
  if (!isId(id, 'txn_')) throw replyInvalid('GET /transactions')
  const adjustments = await adjustmentsOf(api, id)
  const outcomes = adjustments
    .map((data) => interpretAdjustment({ type: 'adjustment.updated', data }))
    // Credits, for example, are neither refunds nor disputes.
    .filter((outcome) => !(outcome.type === 'ignored' && outcome.reason === 'unhandled_event'))
  return { outcomes, isWhole: outcomes.every(({ type }) => type !== 'ignored') }
}

/** The payer has done his part: https://developer.paddle.com/api-reference/transactions/overview */
const settlingAttempts: ReadonlySet<string> = new Set([
  'authorized',
  'authorized_flagged',
  'captured',
  'pending_no_action_required',
])

function standingOf(status: string, transaction: JsonObject): Standing {
  if (isCharged(status) || status === 'canceled') return 'over'
  const payments = transaction.get('payments')
  const newest = Array.isArray(payments) ? payments[0] : undefined
  const attempt = isJsonObject(newest) ? textOf(newest.get('status')) : undefined
  if (settlingAttempts.has(attempt ?? '')) return 'settling'
  return payableStatuses.has(status) ? 'open' : 'settling'
}

/** In any state that Paddle may add, nothing is taken for over. */
const payableStatuses: ReadonlySet<string> = new Set(['draft', 'ready', 'billed', 'past_due'])
