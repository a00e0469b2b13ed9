import type { DisputeStatus } from '../../payments/dispute.ts'
import { ignored, type AboutMoney, type Outcome } from '../../payments/outcome.ts'
import type { PaymentStatus } from '../../payments/payment.ts'
import { textOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import { isId, readEntity, shownField, totalOf, type PaddleEvent } from './payload.ts'
import { refundIdIn } from './refund-reason.ts'

/**
 * What Paddle takes off a transaction. It has no custom data: the transaction names the payment.
 */
interface Adjustment {
  readonly id: string
  readonly transactionId: string
  readonly entity: JsonObject
}

/** https://developer.paddle.com/api-reference/adjustments/overview */
export function readAdjustment(event: PaddleEvent): Outcome {
  const read = readEntity(event, 'adj_')
  if (!read.ok) return read.outcome
  const { entity, id } = read
  const action = textOf(entity.get('action'))
  if (action === undefined) return ignored('malformed_payload', 'data.action')
  const transactionId = entity.get('transaction_id')
  if (!isId(transactionId, 'txn_')) return ignored('malformed_payload', 'data.transaction_id')
  const adjustment = { id, transactionId, entity }
  if (action === 'refund') return refundOf(adjustment)
  const disputeAction = disputeActions.get(action)
  if (disputeAction !== undefined) return disputeOf(adjustment, disputeAction)
  const text = detail(`${event.type}, ${shownField(entity, 'action')}`)
  return ignored('unhandled_event', text, credits.has(action) ? {} : odd(adjustment))
}

/** Neither refunds nor disputes: the money stays at Paddle as the customer's balance. */
export const credits: ReadonlySet<string> = new Set(['credit', 'credit_reverse'])

/** It is about money, in unknown words: ours, if the transaction is. */
function odd({ transactionId }: Adjustment): AboutMoney {
  return { money: true, payment: { checkoutReference: transactionId } }
}

const refundStatuses: ReadonlyMap<string, PaymentStatus> = new Map<string, PaymentStatus>([
  ['pending_approval', 'pending'],
  ['approved', 'paid'],
  ['rejected', 'failed'],
  ['reversed', 'failed'],
])

function refundOf(adjustment: Adjustment): Outcome {
  const status = refundStatuses.get(textOf(adjustment.entity.get('status')) ?? '')
  if (status === undefined) return undecided(adjustment)
  const { id, transactionId, entity } = adjustment
  const refundId = refundIdIn(entity)
  return {
    type: 'refund',
    payment: { checkoutReference: transactionId },
    status,
    refundReference: id,
    ...(refundId !== undefined && { refundId }),
    ...totalOf(entity.get('totals')),
  }
}

interface DisputeAction {
  readonly kind: 'chargeback' | 'chargeback_warning'
  readonly statuses: ReadonlyMap<string, DisputeStatus>
  readonly givesBack?: true
}

const taken: Omit<DisputeAction, 'kind'> = {
  statuses: new Map<string, DisputeStatus>([
    ['approved', 'open'],
    ['reversed', 'won'],
  ]),
}
/** The money comes back by another adjustment, which does not name the first one. */
const givenBack: Omit<DisputeAction, 'kind'> = {
  statuses: new Map<string, DisputeStatus>([['approved', 'won']]),
  givesBack: true,
}

const disputeActions: ReadonlyMap<string, DisputeAction> = new Map([
  ['chargeback', { kind: 'chargeback', ...taken }],
  ['chargeback_warning', { kind: 'chargeback_warning', ...taken }],
  ['chargeback_reverse', { kind: 'chargeback', ...givenBack }],
  ['chargeback_warning_reverse', { kind: 'chargeback_warning', ...givenBack }],
])

function disputeOf(adjustment: Adjustment, { kind, statuses, givesBack }: DisputeAction): Outcome {
  const { id, transactionId, entity } = adjustment
  const status = statuses.get(textOf(entity.get('status')) ?? '')
  if (status === undefined) return undecided(adjustment)
  return {
    type: 'dispute',
    payment: { checkoutReference: transactionId },
    reference: id,
    status,
    kind,
    ...(givesBack && { givesBack }),
    ...totalOf(entity.get('totals')),
  }
}

function undecided(adjustment: Adjustment): Outcome {
  const { entity } = adjustment
  const action = textOf(entity.get('action')) ?? ''
  const text = detail(`${action}, ${shownField(entity, 'status')}`)
  return ignored('no_outcome', text, odd(adjustment))
}
