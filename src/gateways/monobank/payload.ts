import { findCurrencyByNumber } from '../../kernel/currency.ts'
import { readUuid } from '../../kernel/uuid.ts'
import { parseMinorUnits } from '../../kernel/money.ts'
import { ignored, type ClaimedReference, type IgnoredOutcome } from '../../payments/outcome.ts'
import {
  isJsonObject,
  numberTextOf,
  textOf,
  type JsonObject,
  type JsonValue,
} from '../body/json.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'

/** An invoice as the bank reports it, by callback and by its status query alike. */
export interface Invoice {
  /** The bank's id of it, which we store as the checkout reference. */
  readonly id: string
  readonly status: string
  /** Of the invoice; what is left of it after refunds (`finalAmount`) is never read. */
  readonly amount: bigint | undefined
  readonly currency: string | undefined
  readonly body: JsonObject
}

export type InvoiceResult =
  | { readonly ok: true; readonly invoice: Invoice }
  | { readonly ok: false; readonly outcome: IgnoredOutcome }

export function readInvoice(payload: Payload): InvoiceResult {
  if (payload.kind === 'unreadable') return refused(ignored('unreadable_payload', payload.reason))
  return payload.kind === 'form' ? malformed('body') : readInvoiceBody(payload.value)
}

/** Reads a callback or a reply to the status query: the bank words both alike. */
export function readInvoiceBody(body: JsonValue): InvoiceResult {
  if (!isJsonObject(body)) return malformed('body')
  const id = invoiceIdOf(body)
  if (id === undefined) return malformed('invoiceId')
  const status = textOf(body.get('status'))
  if (status === undefined) return malformed('status')
  const invoice = { id, status, amount: amountOf(body), currency: currencyOf(body), body }
  return { ok: true, invoice }
}

/** Short and plain, and without the slash that joins the parts of our refund references. */
const idGrammar = /^[A-Za-z0-9_.-]{1,100}$/

/** The bank's id of the invoice that an object names; undefined if it is not an id. */
export function invoiceIdOf(object: JsonObject): string | undefined {
  return textOf(object.get('invoiceId'))?.match(idGrammar)?.[0]
}

export type ClaimResult =
  | { readonly ok: true; readonly claimed?: ClaimedReference }
  | { readonly ok: false; readonly outcome: IgnoredOutcome }

/**
 * The `reference` with which the invoice was made: our payment's id, or whatever another merchant
 * of the bank has set. What counts is the invoice's own id.
 */
export function readClaim({ body }: Invoice): ClaimResult {
  const reference = body.get('reference') ?? undefined
  if (reference === undefined) return { ok: true }
  const id = readUuid(reference)
  if (id !== undefined) return { ok: true, claimed: { id, by: 'anybody' } }
  const shown = typeof reference === 'string' ? detail(reference) : 'not a text'
  return refused(ignored('invalid_reference', shown))
}

/** Whole minor units, from the number's source text. */
export function amountOf(object: JsonObject): bigint | undefined {
  return parseMinorUnits(numberTextOf(object.get('amount')))
}

/** An ISO 4217 number as JSON has it: without leading zeros. */
export function currencyOf(object: JsonObject): string | undefined {
  const text = numberTextOf(object.get('ccy'))
  return text === undefined ? undefined : findCurrencyByNumber(text.padStart(3, '0'))?.code
}

function malformed(field: string): { readonly ok: false; readonly outcome: IgnoredOutcome } {
  return refused(ignored('malformed_payload', field))
}

function refused(outcome: IgnoredOutcome): {
  readonly ok: false
  readonly outcome: IgnoredOutcome
} {
  return { ok: false, outcome }
}
