import { ignored } from '../../payments/outcome.ts'
import type { Payment } from '../../payments/payment.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { PollReply, PollRequest, Standing } from '../operations.ts'
import { invalidReply, monobankApi } from './api.ts'
import { askInvoice, findInvoice, mayTurnUp } from './find-invoice.ts'
import { interpretInvoice } from './interpret.ts'
import type { Invoice } from './payload.ts'
import { refundOutcomes } from './read-refunds.ts'

/**
 * Fetches the status of a payment's invoice. The answer is worded like a callback. The bank answers
 * only the owner of the token, so an invoice that it finds is ours.
 */
export async function pollInvoice(
  request: PollRequest,
  context: OperationContext,
): Promise<PollReply> {
  const { payment } = request
  const api = monobankApi(context)
  const known = payment.checkoutReference
  const invoiceId = known ?? (await findInvoice(api, request, context))
  if (invoiceId === undefined)
    return notFoundReply(mayTurnUp(request, context) ? 'undecided' : 'absent')
  const invoice = await askInvoice(api, invoiceId, payment)
  if (invoice !== undefined) {
    const reply = replyOn(invoice, payment, context)
    return known === null ? { ...reply, checkout: { checkoutReference: invoiceId } } : reply
  }
  if (known === null) throw invalidReply('api/merchant/invoice/status', 'against its statement')
  return notFoundReply('absent')
}

function notFoundReply(standing: Standing): PollReply {
  return { outcomes: [ignored('no_outcome', 'not_found')], standing, listsRefunds: false }
}

function replyOn(invoice: Invoice, payment: Payment, { now }: OperationContext): PollReply {
  const refunds = refundOutcomes(invoice)
  return {
    outcomes: interpretInvoice(invoice, { paymentId: payment.id }),
    standing: standingOf(invoice.status, payment, now),
    listsRefunds: wasPaid.has(invoice.status) && refunds.every(({ type }) => type === 'refund'),
  }
}

const wasPaid: ReadonlySet<string> = new Set(['success', 'reversed'])

/** We make no holds; a payment that began elsewhere may be one. */
function isOurs({ checkout, paymentMethodId }: Payment): boolean {
  return checkout !== 'none' || paymentMethodId !== null
}

const standings: ReadonlyMap<string, Standing> = new Map<string, Standing>([
  ['created', 'open'],
  ['processing', 'undecided'],
  ['hold', 'undecided'],
  ['success', 'paid'],
  // The page accepts another card until its time is over.
  ['failure', 'open'],
  ['expired', 'unpaid'],
])

function standingOf(status: string, payment: Payment, now: Date): Standing {
  const { paymentMethodId, expiresAt } = payment
  const hasPage = paymentMethodId === null && (expiresAt === null || expiresAt > now)
  if (status === 'failure' && !hasPage) return 'unpaid'
  // A released hold ends with the same word as refunded money.
  if (status === 'reversed' && isOurs(payment)) return 'paid'
  return standings.get(status) ?? 'unclear'
}
