import { readUuid } from '../../kernel/uuid.ts'
import {
  firstPaymentOf,
  ignored,
  type AboutMoney,
  type Outcome,
  type PaymentOutcome,
} from '../../payments/outcome.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import { readSavedCard } from './read-saved-card.ts'
import { isLive } from './merchant.ts'
import { readOrder, type Order } from './read-order.ts'

/** What a callback states about one of our payments. Sends no request; never throws. */
export function interpretHutko(payload: Payload): readonly Outcome[] {
  const read = readOrder(payload)
  return read.ok ? interpretOrder(read.order) : [read.outcome]
}

/** What an order states, wherever it was read. */
export function interpretOrder(order: Order): readonly Outcome[] {
  const subject = subjectOf(order)
  if (typeof subject === 'string') return [ignored('invalid_reference', detail(subject))]
  const operation = operations.get(order.operation)
  if (operation !== undefined) return operation(order, subject)
  return [ignored('unhandled_event', detail(`tran_type ${order.operation}`), odd(subject))]
}

/** An operation or a state that we do not know: money of this payment. */
function odd(subject: Subject): AboutMoney {
  return { money: true, payment: firstPaymentOf(subject) }
}

/** Which payment an order is about; `renews` if the provider charged it automatically. */
type Subject = Pick<PaymentOutcome, 'payment' | 'renews' | 'merchantAccount' | 'live'>

/** A text as the result is a reference that is not ours. */
function subjectOf({ id, parentId, paymentId, merchantId, test }: Order): Subject | string {
  const live = isLive(merchantId, test)
  const bound = { merchantAccount: merchantId, ...(live !== undefined && { live }) }
  const [own, first] = [readUuid(id), readUuid(parentId)]
  if (parentId === undefined || parentId === id || (first !== undefined && first === own)) {
    return own === undefined ? id : { payment: { id: own }, ...bound }
  }
  if (first === undefined) return parentId
  return { payment: { providerReference: paymentId }, renews: { id: first }, ...bound }
}

type Handler = (order: Order, subject: Subject) => readonly Outcome[]

// Maps: operations and statuses are the sender's texts and must not reach a prototype.
const operations: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['purchase', onPurchase],
  ['reverse', onReverse],
  ['verification', onVerification],
])

const statuses: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['created', noOutcome],
  ['processing', noOutcome],
  ['approved', approved],
  ['declined', declined],
  ['expired', (order, subject) => [paymentOutcome(order, subject, 'canceled')]],
  ['reversed', reversed],
])

function onPurchase(order: Order, subject: Subject): readonly Outcome[] {
  const handler = statuses.get(order.status)
  return handler
    ? handler(order, subject)
    : [ignored('unhandled_event', shown(order), odd(subject))]
}

/** The result of a reversal; only what was reversed in the end changes anything. */
function onReverse(order: Order, subject: Subject): readonly Outcome[] {
  if (order.status === 'reversed') return reversed(order, subject)
  if (order.status === 'approved' && order.capture === 'done') {
    return [paymentOutcome(order, subject, 'paid'), refundOutcome(order, subject)]
  }
  return statuses.has(order.status)
    ? noOutcome(order, subject)
    : [ignored('no_outcome', shown(order), odd(subject))]
}

/** A card is checked with an amount that is released again: nothing was paid. */
function onVerification(order: Order, subject: Subject): readonly Outcome[] {
  const verified = order.status === 'approved' && order.verification === 'verified'
  const outcome = ignored('no_outcome', shown(order))
  return [outcome, ...(verified ? cardOutcome(order, subject) : [])]
}

function approved(order: Order, subject: Subject): readonly Outcome[] {
  const card = cardOutcome(order, subject)
  if (order.capture !== 'done') return [...noOutcome(order, subject), ...card]
  const refund = order.reversed > 0n ? [refundOutcome(order, subject)] : []
  return [paymentOutcome(order, subject, 'paid'), ...refund, ...card]
}

function declined(order: Order, subject: Subject): readonly Outcome[] {
  const { declineCode } = order
  const failed = paymentOutcome(order, subject, 'failed')
  return [{ ...failed, ...(declineCode !== undefined && { declineCode }) }]
}

/**
 * Blocked money that was released whole was never paid. Money that was reversed in another way had
 * been taken before, but the callback that reported it may be lost or late.
 */
function reversed(order: Order, subject: Subject): readonly Outcome[] {
  if (order.capture === 'held') {
    return order.reversed === order.amount ? [released(order, subject)] : noOutcome(order, subject)
  }
  const refund = refundOutcome(order, subject)
  if (refund.type !== 'refund') return [refund]
  return [...approved({ ...order, reversed: 0n }, subject), refund]
}

function released(order: Order, subject: Subject): Outcome {
  return { ...paymentOutcome(order, subject, 'canceled'), ifPaid: 'review' }
}

function paymentOutcome(
  { amount, currency, paymentId }: Order,
  subject: Subject,
  status: PaymentOutcome['status'],
): PaymentOutcome {
  return {
    type: 'payment',
    status,
    providerReference: paymentId,
    ...subject,
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
  }
}

function refundOutcome(order: Order, subject: Subject): Outcome {
  if (order.reversed === 0n) return ignored('malformed_payload', 'reversal_amount')
  const { renews: _, ...bound } = subject
  return {
    type: 'refund',
    status: 'paid',
    refundedTotal: order.reversed,
    ...bound,
    ...(order.currency !== undefined && { currency: order.currency }),
  }
}

function cardOutcome(order: Order, subject: Subject): readonly Outcome[] {
  const { renews: _, ...bound } = subject
  return readSavedCard(order, bound)
}

/** Nothing is decided; an unknown word may say whether money is only blocked. */
function noOutcome(order: Order, subject: Subject): readonly Outcome[] {
  const about = order.capture === 'unclear' ? odd(subject) : {}
  return [ignored('no_outcome', shown(order), about)]
}

function shown({ operation, status, capture }: Order): string {
  return detail(`${operation} ${status}${capture === 'done' ? '' : `, capture ${capture}`}`)
}
