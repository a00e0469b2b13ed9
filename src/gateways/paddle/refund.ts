import { QuittanceError } from '../../kernel/errors.ts'
import { parseMinorUnits } from '../../kernel/money.ts'
import { path, textOf, type JsonObject, type JsonValue } from '../body/json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { RefundReply, RefundRequest } from '../operations.ts'
import { adjustmentsOf } from './find-adjustments.ts'
import { replyInvalid, requirePaddleApi, type PaddleApi } from './api.ts'
import { readAdjustment } from './read-adjustment.ts'
import { isId } from './payload.ts'
import { refundReason } from './refund-reason.ts'

/**
 * Makes an adjustment: one POST, which is never repeated, because Paddle has no idempotency key.
 * Most adjustments wait for Paddle's approval. While one waits, Paddle refuses the next with
 * `adjustment_pending_refund_request`.
 * https://developer.paddle.com/api-reference/adjustments/create-adjustment
 */
export async function refundPayment(
  request: RefundRequest,
  context: OperationContext,
): Promise<RefundReply> {
  const api = requirePaddleApi(context)
  const transactionId = request.payment.checkoutReference
  if (transactionId === null) {
    throw new QuittanceError(
      'provider_refused',
      `payment ${request.payment.id} has no transaction at Paddle that could be refunded`,
    )
  }
  const adjustment = await api.post('adjustments', {
    action: 'refund',
    transaction_id: transactionId,
    reason: refundReason(request.reason, request.refund.id),
    ...(request.isWhole
      ? { type: 'full' }
      : { type: 'partial', items: await itemsFor(api, transactionId, request.refund.amount) }),
  })
  const outcome = readAdjustment({ type: 'adjustment.created', data: adjustment })
  const isOurs = adjustment.get('transaction_id') === transactionId
  if (!isOurs || outcome.type !== 'refund' || !('refundReference' in outcome)) {
    throw replyInvalid('POST /adjustments')
  }
  const { status, refundReference: reference } = outcome
  // A new adjustment cannot be canceled.
  if (status === 'canceled') throw replyInvalid('POST /adjustments')
  return { status, reference }
}

interface Item {
  readonly id: string
  readonly total: bigint
  /** What adjustments have not taken off yet. */
  readonly left: bigint
}

/** Paddle refunds single items: the amount is taken from the first ones that have some left. */
async function itemsFor(
  api: PaddleApi,
  transactionId: string,
  amount: bigint,
): Promise<readonly object[]> {
  let rest = amount
  const items: object[] = []
  const found = await itemsOf(api, transactionId)
  for (const [index, { id, total, left }] of found.entries()) {
    // Paddle refuses whatever is too much.
    const share = index === found.length - 1 || rest < left ? rest : left
    rest -= share
    if (share <= 0n) continue
    const isWhole = share === total && left === total
    const part = isWhole ? { type: 'full' } : { type: 'partial', amount: share.toString() }
    items.push({ item_id: id, ...part })
  }
  return items
}

async function itemsOf(api: PaddleApi, transactionId: string): Promise<readonly Item[]> {
  const transaction = await api.get('transactions', transactionId)
  const lines = transaction === undefined ? undefined : path(transaction, 'details', 'line_items')
  if (!Array.isArray(lines) || lines.length === 0) {
    throw replyInvalid(`GET /transactions/${transactionId}`)
  }
  // A single item has all that is left.
  const adjusted = lines.length === 1 ? [] : await adjustmentsOf(api, transactionId)
  return lines.map((line: JsonValue) => {
    const id = path(line, 'id')
    const total = parseMinorUnits(textOf(path(line, 'totals', 'total')))
    if (!isId(id, 'txnitm_') || total === undefined) {
      throw replyInvalid(`GET /transactions/${transactionId}`)
    }
    return { id, total, left: total - takenOff(id, adjusted) }
  })
}

const takenActions: ReadonlySet<JsonValue | undefined> = new Set(['refund', 'credit', 'chargeback'])
const takenStatuses: ReadonlySet<JsonValue | undefined> = new Set(['pending_approval', 'approved'])

function takenOff(itemId: string, adjustments: readonly JsonObject[]): bigint {
  return adjustments
    .filter((one) => takenActions.has(one.get('action')) && takenStatuses.has(one.get('status')))
    .flatMap((one) => one.get('items') ?? [])
    .filter((item) => path(item, 'item_id') === itemId)
    .reduce((sum, item) => sum + (parseMinorUnits(textOf(path(item, 'totals', 'total'))) ?? 0n), 0n)
}
