import {
  ignored,
  type InvoiceOutcome,
  type Outcome,
  type PaymentReference,
} from '../../payments/outcome.ts'
import { path, textOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import { isHttpUrl } from '../is-http-url.ts'
import { amountOf, moneyOf, shownField, timeIn } from './fields.ts'
import { accountStatement, readObject, type Snapshot } from './payload.ts'
import { invoiceSubscription, nameOf } from './read-invoice.ts'
import { statedLines } from './read-lines.ts'
import { invoiceReference, statedReference } from './reference.ts'

/**
 * An invoice is a document once it is finalized, and stays one if the merchant gives its money up
 * or voids it. https://docs.stripe.com/invoicing/overview#invoice-statuses
 */
const statuses: ReadonlyMap<unknown, InvoiceOutcome['status']> = new Map([
  ['open', 'issued'],
  ['uncollectible', 'issued'],
  ['paid', 'paid'],
  ['void', 'void'],
] as const)

/**
 * The invoice as a document, beside what it says of a payment: none if it is a draft, over nothing,
 * or about neither a payment nor a subscription.
 */
export function documentOf(snapshot: Snapshot): readonly InvoiceOutcome[] {
  const read = readObject(snapshot, 'invoice', 'in_')
  if ('malformed' in read) return []
  const { object: invoice, id: reference } = read
  const status = statuses.get(invoice.get('status'))
  if (status === undefined || amountOf(invoice, 'total') === 0n) return []
  // A subscription that carries the reference of another system is that system's.
  if (invoiceReference(invoice)?.ok === false) return []
  const about = aboutOf(invoice, reference)
  if (Object.keys(about).length === 0) return []
  return [
    {
      type: 'invoice',
      reference,
      status,
      ...namesOf(invoice),
      ...moneyOf(invoice, 'total'),
      ...datesOf(invoice),
      ...about,
      ...accountStatement(snapshot),
    },
  ]
}

/** An event that is about the document alone. */
export function documentAlone(snapshot: Snapshot): readonly Outcome[] {
  const read = readObject(snapshot, 'invoice', 'in_')
  if ('malformed' in read) {
    return [ignored('malformed_payload', read.malformed, { money: false })]
  }
  const [document] = documentOf(snapshot)
  const said = `${snapshot.type}, ${shownField(read.object, 'billing_reason')}`
  return [document ?? ignored('no_outcome', detail(said))]
}

type About = Pick<InvoiceOutcome, 'payment' | 'subscriptionReference'>

/** The charge as its payment is known; what is charged between periods is no payment of ours. */
function aboutOf(invoice: JsonObject, id: string): About {
  const named = nameOf(invoice, id)
  const payment = named === undefined ? ownPayment(invoice) : paymentIn(named)
  return { ...invoiceSubscription(invoice), ...(payment !== undefined && { payment }) }
}

function paymentIn(named: NonNullable<ReturnType<typeof nameOf>>): PaymentReference | undefined {
  return 'outcome' in named ? undefined : named.payment
}

function ownPayment(invoice: JsonObject): PaymentReference | undefined {
  const reference = statedReference(invoice)
  return reference?.ok ? { id: reference.paymentId } : undefined
}

function namesOf(invoice: JsonObject): Pick<InvoiceOutcome, 'number' | 'url'> {
  const number = textOf(invoice.get('number'))
  const url = textOf(invoice.get('hosted_invoice_url'))
  return {
    ...(number !== undefined && number !== '' && { number: detail(number) }),
    ...(url !== undefined && isHttpUrl(url) && { url }),
  }
}

/** `effective_at` is the date of issue on the document, where the merchant has set another one. */
function datesOf(
  invoice: JsonObject,
): Pick<InvoiceOutcome, 'lines' | 'issuedAt' | 'dueAt' | 'paidAt'> {
  const transition = (name: string) => timeIn(path(invoice, 'status_transitions', name))
  const issuedAt = timeIn(invoice.get('effective_at')) ?? transition('finalized_at')
  const dueAt = timeIn(invoice.get('due_date'))
  const paidAt = transition('paid_at')
  const lines = statedLines(invoice)
  return {
    ...(lines !== undefined && { lines }),
    ...(issuedAt !== undefined && { issuedAt }),
    ...(dueAt !== undefined && { dueAt }),
    ...(paidAt !== undefined && { paidAt }),
  }
}
