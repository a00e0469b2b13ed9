import { parseMajorUnits } from '../../kernel/money.ts'
import { findCurrency } from '../../kernel/currency.ts'
import { ignored, type AboutMoney, type IgnoredOutcome } from '../../payments/outcome.ts'
import {
  isJsonObject,
  numberTextOf,
  textOf,
  type JsonObject,
  type JsonValue,
} from '../body/json.ts'
import { parseJsonBody } from '../body/parse-json-body.ts'
import { unreadable, type Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import type { RawRequest } from '../gateway.ts'
import { decodeCanonicalBase64 } from '../signing/canonical-base64.ts'
import { readEnvelope } from './read-envelope.ts'

/** The JSON inside `data`: what is stored, shown and interpreted. Never throws; pure. */
export function parseCallback({ body }: RawRequest): Payload {
  const envelope = readEnvelope(body)
  if (!envelope.ok) return unreadable(envelope.reason)
  const data = textOf(envelope.fields.get('data'))
  const bytes = data === undefined ? undefined : decodeCanonicalBase64(data)
  if (bytes === undefined) return unreadable('invalid_form')
  const payload = parseJsonBody(bytes)
  // The text does not hold all bytes that came: those include the signature.
  return payload.kind === 'json' ? { ...payload, exact: false } : payload
}

/** What every callback says, whatever its status. */
export interface Callback {
  /** Without the blank after `wait_accept` in LiqPay's own list of statuses. */
  readonly status: string
  readonly action: string
  readonly publicKey: string
  readonly fields: JsonObject
}

/** The callback, or why it changes nothing. */
export type CallbackResult =
  | { readonly ok: true; readonly callback: Callback }
  | { readonly ok: false; readonly outcome: IgnoredOutcome }

/** Reads what decides how to read the rest; stops at a field of the wrong kind. */
export function readCallback(payload: Payload): CallbackResult {
  if (payload.kind === 'unreadable') return refused(ignored('unreadable_payload', payload.reason))
  if (payload.kind === 'form' || !isJsonObject(payload.value)) return malformed('data')
  return readFields(payload.value)
}

/** The same for fields from elsewhere: the API answers in the words of the callbacks. */
export function readFields(fields: JsonObject): CallbackResult {
  if (numberTextOf(fields.get('version')) !== '3') return malformed('version')
  const publicKey = fields.get('public_key')
  if (!isPublicKey(publicKey)) return malformed('public_key')
  // The form that the payer posts to LiqPay has the same signature, so a payer can send it to us.
  if (!fields.has('status')) return malformed('status', { money: false })
  const status = textOf(fields.get('status'))?.trimEnd()
  if (status === undefined || status === '') return malformed('status')
  const action = textOf(fields.get('action'))
  if (action === undefined || action === '') return malformed('action')
  return { ok: true, callback: { status, action, publicKey, fields } }
}

const publicKeyGrammar = /^\w{1,64}$/

/** Whether a value can be the public key of a shop: `i12345678901`, `sandbox_i12345678901`. */
function isPublicKey(value: unknown): value is string {
  return typeof value === 'string' && publicKeyGrammar.test(value)
}

/**
 * Whether a text can be set as the public key, which is stored with every payment. A private key,
 * 40 letters and digits, would be stored, too.
 */
export function isOwnPublicKey(text: string): boolean {
  return isPublicKey(text) && !/^(?:sandbox_)?[a-z0-9]{40}$/i.test(text)
}

/** Whether the key belongs to a shop's test mode: no money moves there. */
export function isSandboxKey(publicKey: string): boolean {
  return publicKey.startsWith('sandbox_')
}

const idGrammar = /^[1-9]\d{0,18}$/

/** Whether a text is the number of an operation at LiqPay. */
export function isPaymentId(text: unknown): text is string {
  return typeof text === 'string' && idGrammar.test(text)
}

/** LiqPay's id of the operation, a whole number, even if it comes as a text. */
export function paymentIdOf({ fields }: Callback): string | undefined {
  const text = scalarText(fields.get('payment_id'))
  return isPaymentId(text) ? text : undefined
}

/** The ISO 4217 code; undefined for any other spelling. */
export function currencyOf({ fields }: Callback): string | undefined {
  return findCurrency(fields.get('currency'))?.code
}

/** From major units, such as hryvnias, into minor units, by the number's source text. */
export function amountOf(
  callback: Callback,
  field: 'amount' | 'refund_amount',
): bigint | undefined {
  return parseMajorUnits(scalarText(callback.fields.get(field)), currencyOf(callback))
}

/** Why an operation failed, or a request was refused. */
export function errorCodeOf(reply: JsonObject): string | undefined {
  const code = scalarText(reply.get('err_code')) ?? scalarText(reply.get('code'))
  return code === undefined || code === '' ? undefined : detail(code)
}

/** The text of a field that may come as a number or as a text. */
export function scalarText(value: JsonValue | undefined): string | undefined {
  return numberTextOf(value) ?? textOf(value)
}

function malformed(field: string, about: AboutMoney = {}): CallbackResult {
  return refused(ignored('malformed_payload', field, about))
}

function refused(outcome: IgnoredOutcome): CallbackResult {
  return { ok: false, outcome }
}
