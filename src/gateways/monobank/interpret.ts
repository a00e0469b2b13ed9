import { ignored, type Outcome, type PaymentOutcome } from '../../payments/outcome.ts'
import { textOf } from '../body/json.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import { readClaim, readInvoice, type ClaimResult, type Invoice } from './payload.ts'
import { refundOutcomes } from './read-refunds.ts'
import { readSavedCard } from './read-saved-card.ts'

/** What the bank's report on an invoice states. Sends no request; never throws. */
export function interpretMonobank(payload: Payload): readonly Outcome[] {
  const read = readInvoice(payload)
  return read.ok ? interpretInvoice(read.invoice) : [read.outcome]
}

/** What we know of an invoice that we asked about ourselves. */
export interface AskedInvoice {
  /** The payment for which it was made. */
  readonly paymentId: string
}

/** What an invoice states, in a callback or in a reply to us. Never throws. */
export function interpretInvoice(invoice: Invoice, asked?: AskedInvoice): readonly Outcome[] {
  const meaning = meanings.get(invoice.status)
  if (meaning === undefined) return [unknownStatus(invoice, asked)]
  const { refunds = false, settles } = meaning
  const more = [...(refunds ? refundOutcomes(invoice) : []), ...readSavedCard(invoice)]
  if (settles === undefined && more.length === 0) return [ignored('no_outcome', invoice.status)]
  const claim = asked ? claimFor(asked) : readClaim(invoice)
  if (!claim.ok) return [claim.outcome]
  if (settles === undefined) return more
  const { claimed } = claim
  const { ifOpenedHere } = meaning
  const stated = {
    ...paymentOutcome(invoice, settles),
    ...(settles === 'failed' && declineOf(invoice)),
    ...(ifOpenedHere && { ifOpenedHere }),
  }
  return [{ ...stated, ...(claimed && { claimed }) }, ...more]
}

function declineOf({ body }: Invoice): Pick<PaymentOutcome, 'declineCode'> {
  const declineCode = textOf(body.get('errCode'))
  return declineCode === undefined ? {} : { declineCode }
}

/** Whatever the status means, it is about money. */
function unknownStatus(invoice: Invoice, asked: AskedInvoice | undefined): Outcome {
  const payment = asked ? { id: asked.paymentId } : { checkoutReference: invoice.id }
  return ignored('unhandled_event', detail(invoice.status), { money: true, payment })
}

function claimFor({ paymentId }: AskedInvoice): ClaimResult {
  return { ok: true, claimed: { id: paymentId, by: 'anybody' } }
}

/** What a status of an invoice means. */
interface Meaning {
  readonly settles?: PaymentOutcome['status']
  /** Only for our own invoices: we make no holds. */
  readonly ifOpenedHere?: true
  /** `cancelList` lists refunded money, not a released hold. */
  readonly refunds?: true
}

// A Map: a status is the sender's text and must not reach a prototype.
const meanings: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['created', {}],
  ['processing', {}],
  // The amount is blocked, not taken.
  ['hold', {}],
  ['success', { settles: 'paid', refunds: true }],
  ['failure', { settles: 'failed' }],
  ['expired', { settles: 'canceled' }],
  // Refunded money had been taken; but a hold that was never captured may also end here.
  ['reversed', { settles: 'paid', ifOpenedHere: true, refunds: true }],
])

/**
 * The bank signs for every merchant with its own keys, and the body does not name the merchant. So
 * only the payment for which this invoice was made is meant, whatever `reference` says.
 */
function paymentOutcome(
  { id: checkoutReference, amount, currency }: Invoice,
  status: PaymentOutcome['status'],
): PaymentOutcome {
  return {
    type: 'payment',
    payment: { checkoutReference },
    status,
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    checkoutReference,
  }
}
