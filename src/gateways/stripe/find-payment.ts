import { isQuittanceError } from '../../kernel/errors.ts'
import { ignored, type IgnoredOutcome, type PaymentReference } from '../../payments/outcome.ts'
import type { JsonObject } from '../body/json.ts'
import type { LookUps, StripeApi } from './api.ts'
import { isId } from './payload.ts'
import { statedReference, type ReferenceResult } from './reference.ts'

export type FoundPayment =
  | {
      readonly ok: true
      readonly payment: PaymentReference
      /**
       * The intent that took the money, if it was fetched and names the payment itself. Absent for
       * an invoice: a payment that is known by its invoice is not known by its intent.
       */
      readonly intent?: JsonObject | undefined
    }
  | { readonly ok: false; readonly outcome: IgnoredOutcome }

/**
 * The payment that a refund, a dispute or a charge is about: the one that its metadata name, else
 * that of its intent. With the API, the intent's own metadata count, or the invoice that it has
 * paid. Without it, we must know the intent's id.
 */
export async function findPayment(
  object: JsonObject,
  { api, noKey }: Pick<LookUps, 'api' | 'noKey'>,
): Promise<FoundPayment> {
  const found = await stated(object, api)
  if (found !== undefined) return found
  const charge = object.get('charge')
  if (!isId(charge, 'ch_', 'py_')) return lost('no payment intent')
  // It may be ours, but that cannot be found out without the API.
  if (api === undefined) return lost(`payment of ${charge}: ${noKey}`, { money: true })
  const looked = await api.get(`v1/charges/${charge}`)
  return (looked && (await stated(looked, api))) ?? lost(`no payment intent of ${charge}`)
}

/**
 * The payment of a charge: its intent says more than the charge, which has a copy of the metadata.
 */
export async function findPaymentOfCharge(
  charge: JsonObject,
  api: StripeApi,
): Promise<FoundPayment> {
  const intent = charge.get('payment_intent')
  const own = statedPayment(charge)
  if (!isId(intent, 'pi_')) return own ?? lost('no payment intent')
  const asked = byIntent(intent, api)
  const found = await (own === undefined ? asked : unlessRefused(asked, own))
  return (found.ok && found.intent) || own === undefined ? found : own
}

/** If Stripe does not tell this key, what is already known is enough; an outage is retried. */
async function unlessRefused(
  asked: Promise<FoundPayment>,
  known: FoundPayment,
): Promise<FoundPayment> {
  try {
    return await asked
  } catch (error) {
    if (!isQuittanceError(error) || error.code === 'provider_unreachable') throw error
    return known
  }
}

/** By the object's own metadata, else by its intent; undefined if it has neither. */
async function stated(
  object: JsonObject,
  api: StripeApi | undefined,
): Promise<FoundPayment | undefined> {
  const intent = object.get('payment_intent')
  return statedPayment(object) ?? (isId(intent, 'pi_') ? byIntent(intent, api) : undefined)
}

/** As the object's own metadata state it; undefined if they name no payment. */
export function statedPayment(object: JsonObject): FoundPayment | undefined {
  const reference = statedReference(object)
  return reference === undefined ? undefined : toFound(reference)
}

function toFound(reference: ReferenceResult): FoundPayment {
  return reference.ok ? { ok: true, payment: { id: reference.paymentId } } : reference
}

async function byIntent(id: string, api: StripeApi | undefined): Promise<FoundPayment> {
  if (api === undefined) return { ok: true, payment: { providerReference: id } }
  const intent = await api.get(`v1/payment_intents/${id}`)
  const named = intent && statedPayment(intent)
  if (named?.ok === false) return named
  const asked = byInvoice(id, api, named && { ...named, intent })
  return named ? unlessRefused(asked, named) : asked
}

/** The invoice that an intent has paid, unless the intent names its payment itself. */
async function byInvoice(
  intent: string,
  api: StripeApi,
  named: (FoundPayment & { readonly ok: true }) | undefined,
): Promise<FoundPayment> {
  const invoices = await invoicesPaidBy(intent, api)
  if (named !== undefined) {
    return invoices.length === 0 ? named : { ok: true, payment: named.payment }
  }
  // If there are several, it is unknown which one is meant.
  const [invoice, ...others] = invoices
  const isKnown = others.length === 0 && isId(invoice, 'in_')
  return { ok: true, payment: { providerReference: isKnown ? invoice : intent } }
}

async function invoicesPaidBy(intent: string, api: StripeApi) {
  const payments = await api.list('v1/invoice_payments', {
    'payment[type]': 'payment_intent',
    'payment[payment_intent]': intent,
  })
  const paid = payments.filter((payment) => payment.get('status') === 'paid')
  return [...new Set(paid.map((payment) => payment.get('invoice')))]
}

function lost(text: string, about: { readonly money?: boolean } = {}): FoundPayment {
  return { ok: false, outcome: ignored('no_outcome', text, about) }
}
