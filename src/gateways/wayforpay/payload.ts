import {
  numberTextOf,
  isJsonObject,
  textOf,
  type JsonObject,
  type JsonValue,
} from '../body/json.ts'
import { decodeText } from '../body/decode-text.ts'
import { jsonTextOf } from '../body/json-text.ts'
import { parseFormBody } from '../body/parse-form-body.ts'
import type { JsonLimits } from '../body/parse-json.ts'
import { parseJsonBody } from '../body/parse-json-body.ts'
import { unreadable, type Payload } from '../body/payload.ts'
import type { RawRequest } from '../gateway.ts'

const beginsLikeJson = /^[ \t\r\n]*\{/
/** A relay that took the JSON for a form forwards it as a name without a value. */
const endsLikeFormName = /\}=$/

/**
 * Reads a callback. WayForPay sends JSON and calls it a form, so only the body decides: if it
 * begins with a brace it is plain JSON, never percent-decoded; otherwise it is form fields.
 */
export function parseCallback({ body }: Pick<RawRequest, 'body'>, limits?: JsonLimits): Payload {
  const decoded = decodeText(body)
  if (!decoded.ok) return unreadable(decoded.reason)
  if (decoded.text.search(beginsLikeJson) === -1) return parseFormBody(body)
  if (!endsLikeFormName.test(decoded.text)) return parseJsonBody(body, limits)
  const payload = parseJsonBody(body.subarray(0, -1), limits)
  return payload.kind === 'json' ? { ...payload, exact: false } : payload
}

/** The fields of a callback in either format; undefined for JSON that is no object. */
export function fieldsOf(payload: Payload): JsonObject | undefined {
  return 'value' in payload && isJsonObject(payload.value) ? payload.value : undefined
}

/** What WayForPay signs, in its order. Nothing else may decide anything. */
export const signedFieldNames = [
  'merchantAccount',
  'orderReference',
  'amount',
  'currency',
  'authCode',
  'cardPan',
  'transactionStatus',
  'reasonCode',
] as const

/** Longer than any of WayForPay's tokens: a longer text names no card. */
const longestToken = 255

/** What WayForPay documents beside them. Anybody can change it: it is for people to read. */
const unsignedFieldNames = [
  'email',
  'phone',
  'createdDate',
  'processingDate',
  'cardType',
  'issuerBankCountry',
  'issuerBankName',
  'reason',
  'fee',
  'paymentSystem',
] as const

/** Of all unsigned fields together: many times what WayForPay sends. */
const mostUnsignedBytes = 8 * 1024

/**
 * What is kept of a callback: the signed fields and the signature; behind it, what is documented and
 * unsigned, as far as there is room; and the token of the saved card. That token is only a hint to
 * ask the API for the real one.
 */
export function signedBodyOf(fields: JsonObject): string {
  const kept = [...signedFieldNames, 'merchantSignature'].flatMap((name) => {
    const value = fields.get(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  const token = textOf(fields.get('recToken')) ?? ''
  const hint = token === '' || token.length > longestToken ? [] : [['recToken', token] as const]
  return jsonTextOf(new Map([...kept, ...unsignedOf(fields), ...hint]))
}

/** Plain values alone; one that does not fit is left out. */
function unsignedOf(fields: JsonObject): readonly (readonly [string, JsonValue])[] {
  let room = mostUnsignedBytes
  return unsignedFieldNames.flatMap((name) => {
    const value = fields.get(name)
    if (value === undefined || (value !== null && scalarOf(value) === undefined)) return []
    const length = Buffer.byteLength(jsonTextOf(new Map([[name, value]])))
    if (length > room) return []
    room -= length
    return [[name, value] as const]
  })
}

export type SignedFieldName = (typeof signedFieldNames)[number]

/** Texts of signed fields: strings unchanged, numbers as written. */
export type SignedTexts<Name extends SignedFieldName> = Readonly<Record<Name, string>>

/** The texts of all eight. */
export type SignedFields = SignedTexts<SignedFieldName>

export const signedFieldFaults = [
  'signed_field_missing',
  'signed_field_empty',
  'signed_field_not_scalar',
  'signed_field_has_separator',
  'signed_field_ill_formed',
] as const
export type SignedFieldFault = (typeof signedFieldFaults)[number]

export type SignedTextsResult<Name extends SignedFieldName> =
  | { readonly ok: true; readonly signed: SignedTexts<Name> }
  | { readonly ok: false; readonly reason: SignedFieldFault; readonly field: Name }

export const separator = ';'

/** Reads the eight signed fields of a callback, or of a reply that is signed like one. */
export function readSignedFields(fields: JsonObject): SignedTextsResult<SignedFieldName> {
  return readSignedTexts(fields, signedFieldNames)
}

/**
 * Reads signed fields. Their texts are signed joined by `;`, without their names. None of them may
 * contain one, and each has its item even if that is empty, so a signed text can be split in only
 * one way.
 */
export function readSignedTexts<Name extends SignedFieldName>(
  fields: JsonObject,
  names: readonly Name[],
): SignedTextsResult<Name> {
  const texts: [Name, string][] = []
  for (const field of names) {
    const read = readSignedField(field, fields.get(field))
    if ('reason' in read) return { ok: false, reason: read.reason, field }
    texts.push([field, read.text])
  }
  return { ok: true, signed: Object.fromEntries(texts) as SignedTexts<Name> }
}

type SignedFieldResult = { readonly text: string } | { readonly reason: SignedFieldFault }

/** Which merchant reports, of which order, and what became of it. */
const mustBeThere: ReadonlySet<SignedFieldName> = new Set([
  'merchantAccount',
  'orderReference',
  'transactionStatus',
])

/**
 * A wallet has no card number, and an unpaid order no bank code: WayForPay signs an absent field,
 * `null` and an empty text alike, as an empty item, so they are read alike. The reader decides what
 * such a report may do: without an amount it pays nothing.
 */
function readSignedField(field: SignedFieldName, value: JsonValue | undefined): SignedFieldResult {
  const mayBeEmpty = !mustBeThere.has(field)
  if (value === undefined && !mayBeEmpty) return { reason: 'signed_field_missing' }
  const text = mayBeEmpty ? scalarOf(value ?? '') : scalarOf(value)
  if (text === undefined) return { reason: 'signed_field_not_scalar' }
  if (text === '' && !mayBeEmpty) return { reason: 'signed_field_empty' }
  if (text.includes(separator)) return { reason: 'signed_field_has_separator' }
  // UTF-8 has one replacement for every lone surrogate: different texts would sign alike.
  return text.isWellFormed() ? { text } : { reason: 'signed_field_ill_formed' }
}

/** The text of a string, or of a number as written; undefined for anything else. */
export function scalarOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : numberTextOf(value)
}
