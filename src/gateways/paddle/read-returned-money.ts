import { isQuittanceError } from '../../kernel/errors.ts'
import type { Outcome } from '../../payments/outcome.ts'
import { textOf } from '../body/json.ts'
import type { InterpretContext } from '../interpret-context.ts'
import type { PaddleApi } from './api.ts'
import { readAdjustment } from './read-adjustment.ts'
import { readTransaction } from './read-transaction.ts'
import { isCharged, type PaddleEvent } from './payload.ts'

/**
 * What an adjustment's event states. Refunded money had been taken, but the event that reported it
 * may be lost or late: so a refund states both, in order. Throws if Paddle cannot be reached. If
 * Paddle refuses, the refund alone counts.
 */
export async function readReturnedMoney(
  event: PaddleEvent,
  api: PaddleApi | undefined,
  { log }: Pick<InterpretContext, 'log'>,
): Promise<readonly Outcome[]> {
  const outcome = readAdjustment(event)
  if (outcome.type !== 'refund' || outcome.status !== 'paid' || api === undefined) return [outcome]
  try {
    return [...(await takenBefore(outcome.payment, api)), outcome]
  } catch (error) {
    if (!isQuittanceError(error) || error.code === 'provider_unreachable') throw error
    log.warn({ err: error }, 'the refund counts, its transaction cannot be read')
    return [outcome]
  }
}

/** That its transaction is paid, as the transaction's own event states it. */
async function takenBefore(
  reference: Extract<Outcome, { type: 'refund' }>['payment'],
  api: PaddleApi,
): Promise<readonly Outcome[]> {
  if (!('checkoutReference' in reference)) return []
  const transaction = await api.get('transactions', reference.checkoutReference)
  if (transaction === undefined || !isCharged(transaction)) return []
  const type = `transaction.${textOf(transaction.get('status'))}`
  const outcome = await readTransaction({ type, data: transaction }, api)
  return outcome.type === 'payment' ? [outcome] : []
}
