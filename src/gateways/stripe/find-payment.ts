import { ignored, type IgnoredOutcome, type PaymentReference } from '../../payments/outcome.ts'
import type { JsonObject } from '../body/json.ts'
import { noKey, type StripeApi } from './api.ts'
import { isId } from './payload.ts'
import { statedReference, type ReferenceResult } from './reference.ts'

export type FoundPayment =
  | {
      readonly ok: true
      readonly payment: PaymentReference
      /** The intent that took the money, where it was asked for and names the payment itself. */
      readonly intent?: JsonObject | undefined
    }
  | { readonly ok: false; readonly outcome: IgnoredOutcome }

/**
 * The payment that a refund, a dispute or a charge is about: the one that its metadata name, else
 * that of its intent. With the API the intent's own metadata count, or the invoice that it has
 * paid; without, the intent's id must be known to us.
 */
export async function findPayment(
  object: JsonObject,
  api: StripeApi | undefined,
): Promise<FoundPayment> {
  const found = await stated(object, api)
  if (found !== undefined) return found
  const charge = object.get('charge')
  if (!isId(charge, 'ch_', 'py_')) return lost('no payment intent')
  // It may be ours, and nobody here can tell.
  if (api === undefined) return lost(`payment of ${charge}: ${noKey}`, { money: true })
  const looked = await api.get(`v1/charges/${charge}`)
  return (looked && (await stated(looked, api))) ?? lost(`no payment intent of ${charge}`)
}

/**
 * The payment that a charge is of: its intent tells more than the charge, which has a copy of the
 * metadata.
 */
export async function findPaymentOfCharge(
  charge: JsonObject,
  api: StripeApi,
): Promise<FoundPayment> {
  const intent = charge.get('payment_intent')
  const found = isId(intent, 'pi_') ? await byIntent(intent, api) : undefined
  if (found?.ok === true && found.intent !== undefined) return found
  return statedPayment(charge) ?? found ?? lost('no payment intent')
}

/** By the object's own metadata, else by its intent; undefined where it has neither. */
async function stated(
  object: JsonObject,
  api: StripeApi | undefined,
): Promise<FoundPayment | undefined> {
  const intent = object.get('payment_intent')
  return statedPayment(object) ?? (isId(intent, 'pi_') ? byIntent(intent, api) : undefined)
}

/** As the object's own metadata have it; undefined where they name no payment. */
export function statedPayment(object: JsonObject): FoundPayment | undefined {
  const reference = statedReference(object)
  return reference === undefined ? undefined : toFound(reference)
}

function toFound(reference: ReferenceResult): FoundPayment {
  return reference.ok ? { ok: true, payment: { id: reference.paymentId } } : reference
}

async function byIntent(id: string, api: StripeApi | undefined): Promise<FoundPayment> {
  const own: FoundPayment = { ok: true, payment: { providerReference: id } }
  if (api === undefined) return own
  const intent = await api.get(`v1/payment_intents/${id}`)
  const named = intent && statedPayment(intent)
  if (named !== undefined) return named.ok ? { ...named, intent } : named
  const invoice = await invoicePaidBy(id, api)
  return invoice === undefined ? own : { ok: true, payment: { providerReference: invoice } }
}

/** Undefined for an intent of no invoice, and of several: which of them is meant is not known. */
async function invoicePaidBy(intent: string, api: StripeApi): Promise<string | undefined> {
  const payments = await api.list('v1/invoice_payments', {
    'payment[type]': 'payment_intent',
    'payment[payment_intent]': intent,
  })
  const invoices = payments
    .filter((payment) => payment.get('status') === 'paid')
    .map((payment) => payment.get('invoice'))
  const [invoice, ...others] = new Set(invoices)
  return others.length === 0 && isId(invoice, 'in_') ? invoice : undefined
}

function lost(text: string, about: { readonly money?: boolean } = {}): FoundPayment {
  return { ok: false, outcome: ignored('no_outcome', text, about) }
}
