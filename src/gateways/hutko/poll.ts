import { days } from '../../kernel/duration.ts'
import { ignored } from '../../payments/outcome.ts'
import type { Payment } from '../../payments/payment.ts'
import { detail } from '../detail.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { PollReply, PollRequest, Standing } from '../operations.ts'
import { invalidReply, openApi } from './api.ts'
import { interpretOrder } from './interpret.ts'
import { readOrderIn, type Order } from './read-order.ts'
import type { Fields } from './payload.ts'
import { orderNotFound } from './refusals.ts'
import { signedReply } from './reply.ts'

/** Fetches an order's state by our payment's id. https://docs.fondy.eu, "Order status" */
export async function pollOrder(
  { payment }: PollRequest,
  context: OperationContext,
): Promise<PollReply> {
  const reply = await openApi(payment, context).read('status/order_id', { order_id: payment.id })
  // A charge that the provider has named exists: a renewal, whose order has its own id.
  if (!reply.ok && reply.code === orderNotFound && payment.providerReference === null) {
    const outcome = ignored('no_outcome', `error_code ${orderNotFound}`)
    return { outcomes: [outcome], standing: 'absent', listsRefunds: false }
  }
  const fields = signedReply(reply, payment, context.credentials)
  const read = readOrderIn(fields)
  if (read.ok) return toPollReply(read.order, payment, context.now)
  const standing = unpaidStanding(fields, payment)
  if (standing !== undefined) return standing
  const what = read.outcome.detail
  throw invalidReply(reply.call, `an order that cannot be read: ${what ?? 'malformed'}`)
}

/** An accepted reversal is in no sum until it is decided: assumed to be within a day. */
const refundsLag = days(1)

function toPollReply(order: Order, payment: Payment, now: Date): PollReply {
  const outcomes = interpretOrder(order)
  // A reversal in progress is in no sum yet.
  const noneMade = order.reversed === 0n && order.operation === 'purchase'
  const saysRefunded = outcomes.some(({ type }) => type === 'refund')
  const standing = standingOf(order, payment, now)
  return { outcomes, standing, listsRefunds: noneMade || saysRefunded, refundsLag }
}

/** What is listed here is known; any other word, and any other combination, is `unclear`. */
function standingOf(order: Order, payment: Payment, now: Date): Standing {
  const { operation, status } = order
  if (operation === 'purchase') return purchaseStanding(order, payment, now)
  // A reversal: the order was paid before. Verifying a card takes no money, and ends nothing.
  if (operation !== 'reverse') return 'unclear'
  if (status === 'created' || status === 'processing') return 'undecided'
  const isDone = status === 'reversed' || (status === 'approved' && order.capture === 'done')
  return isDone && order.capture !== 'held' ? 'paid' : 'unclear'
}

function purchaseStanding(order: Order, payment: Payment, now: Date): Standing {
  switch (order.status) {
    case 'created':
      return openTo(payment)
    case 'processing':
      return 'undecided'
    case 'approved':
      return approvedStandings[order.capture]
    case 'declined':
      return declinedStanding(payment, now)
    case 'expired':
      return 'unpaid'
    case 'reversed':
      if (order.capture !== 'held') return 'paid'
      // Blocked money that was released whole was never paid.
      return order.reversed === order.amount ? 'unpaid' : 'unclear'
    default:
      return 'unclear'
  }
}

const approvedStandings = { done: 'paid', held: 'undecided', unclear: 'unclear' } as const

/** It is not documented whether a declined order expires at its end. */
function declinedStanding({ expiresAt, paymentMethodId }: Payment, now: Date): Standing {
  const hasEnded = expiresAt !== null && expiresAt <= now
  return hasEnded || paymentMethodId !== null ? 'unpaid' : 'open'
}

/** A saved card is charged without a checkout. */
function openTo({ paymentMethodId }: Payment): Standing {
  return paymentMethodId === null ? 'open' : 'undecided'
}

/**
 * For an order without an attempt to pay, the provider may send less than every callback must have:
 * then only its status counts, and decides nothing about money.
 */
function unpaidStanding(fields: Fields, payment: Payment): PollReply | undefined {
  const status = fields.get('order_status')
  if (status !== 'created' && status !== 'expired') return undefined
  const standing = status === 'created' ? openTo(payment) : 'unpaid'
  const outcome = ignored('no_outcome', detail(`order_status ${status}`))
  return { outcomes: [outcome], standing, listsRefunds: false }
}
