import type { Secret } from '../../kernel/secret.ts'
import { textOf, type JsonValue } from '../body/json.ts'
import { unreadableReasons } from '../body/payload.ts'
import { invalid, validIn, type RawRequest, type Verdict } from '../gateway.ts'
import type { Credentials } from '../credential-fields.ts'
import { decodeCanonicalBase64 } from '../signing/canonical-base64.ts'
import { decodeCanonicalHex } from '../signing/canonical-hex.ts'
import { constantTimeEqual } from '../signing/constant-time-equal.ts'
import { sha1 } from '../signing/sha1.ts'
import { bodyOf, isScalar, readEnvelope, scalarOf, type Envelope, type Fields } from './payload.ts'
import { separator, shiftFault, shiftFaults } from './shifted-fields.ts'

const digestBytes = 20

const signatureFaults = ['signature_missing', 'signature_malformed'] as const

const unsignedReasons = [
  'not_configured',
  ...unreadableReasons,
  'body_not_an_object',
  ...signatureFaults,
  'data_malformed',
  'name_too_long',
  'name_not_ascii',
  'value_not_scalar',
  'value_not_text',
  'signature_mismatch',
] as const
type UnsignedReason = (typeof unsignedReasons)[number]

// One of the reasons is in both lists.
export const refusalReasons = [...new Set([...unsignedReasons, ...shiftFaults])]
type RefusalReason = (typeof refusalReasons)[number]

/** SHA-1 of the payment key and the signed text, joined by `|`. */
export function signatureOf(key: Secret, signedText: string): Uint8Array {
  return sha1([key.reveal(), separator, signedText])
}

/**
 * Protocol 1.0 signs the values of all parameters, 2.0 the text of `data`. No header is read, and
 * `response_signature_string`, which anyone can copy from elsewhere, never counts.
 * https://docs.fondy.eu, "Signature"
 */
export function verifySignature(
  request: RawRequest,
  credentials: Credentials,
): Verdict<RefusalReason> {
  const envelope = readEnvelope(request)
  const found = authenticate(envelope, credentials)
  if (!found.ok) return invalid(found.reason)
  const fault = found.fields && shiftFault(found.fields)
  return fault === undefined ? validIn(signedBodyOf(found), found.keyIndex) : invalid(fault)
}

/**
 * Neither empty parameters nor those beside `data` are signed: both can be added freely. The empty
 * ones that are documented are kept behind the signature.
 */
function signedBodyOf({ parameters, fields }: SignedText): string {
  if (fields === undefined) return bodyOf(parameters, ['version', 'data', 'signature'])
  const empty = documentedNames.filter((name) => parameters.has(name) && !fields.has(name))
  return bodyOf(parameters, [...fields.keys(), 'signature', ...empty])
}

/** What may be empty in a callback. */
const documentedNames = [
  'actual_amount',
  'actual_currency',
  'additional_info',
  'amount',
  'approval_code',
  'card_bin',
  'card_type',
  'currency',
  'eci',
  'fee',
  'masked_card',
  'merchant_data',
  'order_time',
  'parent_order_id',
  'payment_id',
  'payment_system',
  'product_id',
  'rectoken',
  'rectoken_lifetime',
  'response_code',
  'response_description',
  'response_status',
  'reversal_amount',
  'rrn',
  'sender_account',
  'sender_cell_phone',
  'sender_email',
  'settlement_amount',
  'settlement_currency',
  'settlement_date',
  'tran_type',
  'verification_status',
] as const

/**
 * Whether one of the payment keys signed it. Whether its names can be trusted is another question.
 */
export function authenticate(envelope: Envelope, credentials: Credentials): Authentication {
  if (!credentials.configured) return refused('not_configured')
  if (envelope.version === undefined) return refused(envelope.reason)
  const sent = readSignature(envelope.fields.get('signature'))
  if (typeof sent === 'string') return refused(sent)
  const signed = envelope.version === '2.0' ? signedData(envelope) : signedFields(envelope.fields)
  if (!signed.ok) return signed
  const keys = credentials.secrets.secret_key ?? []
  const keyIndex = keys.findIndex((key) => constantTimeEqual(signatureOf(key, signed.text), sent))
  return keyIndex === -1 ? refused('signature_mismatch') : { ...signed, keyIndex }
}

/** The 20 bytes, or why there are none. */
function readSignature(
  value: JsonValue | undefined,
): Uint8Array | (typeof signatureFaults)[number] {
  if (value === undefined || value === null || value === '') return 'signature_missing'
  const text = textOf(value)
  if (text === undefined) return 'signature_malformed'
  return decodeCanonicalHex(text, digestBytes) ?? 'signature_malformed'
}

/** What a signature covers, or why there is nothing. */
export type Signed = SignedText | Unsigned

/** The same, with the place of the key that signed it among those that are configured. */
export type Authentication = (SignedText & { readonly keyIndex: number }) | Unsigned

interface Unsigned {
  readonly ok: false
  readonly reason: UnsignedReason
}

interface SignedText {
  readonly ok: true
  readonly text: string
  /** Everything that came, signed or not. */
  readonly parameters: Fields
  /** The signed parameters sorted by name; absent if the text itself names them. */
  readonly fields?: ReadonlyMap<string, string>
}

function signedData({ fields, data }: Extract<Envelope, { version: '2.0' }>): Signed {
  const text = textOf(data)
  const readable = text !== undefined && decodeCanonicalBase64(text) !== undefined
  return readable ? { ok: true, text, parameters: fields } : refused('data_malformed')
}

function refused(reason: UnsignedReason): Unsigned {
  return { ok: false, reason }
}

const unsigned: ReadonlySet<string> = new Set(['signature', 'response_signature_string'])
const parameterName = /^[\x21-\x7e]+$/
/** Names are not signed, so a sender could make them very long: the provider's are half of this. */
const longestName = 64

/** Every parameter, including unknown ones; those that are empty or null are left out. */
export function signedFields(parameters: Fields): Signed {
  const fields = new Map<string, string>()
  // All names are ASCII, so the order of code units is that of bytes.
  for (const name of [...parameters.keys()].toSorted()) {
    if (name.length > longestName) return refused('name_too_long')
    if (!parameterName.test(name)) return refused('name_not_ascii')
    const value = parameters.get(name)
    if (!isScalar(value)) return refused('value_not_scalar')
    const text = scalarOf(value)
    if (text === undefined) continue
    // Half a character would be hashed as a different one.
    if (!text.isWellFormed()) return refused('value_not_text')
    if (!unsigned.has(name)) fields.set(name, text)
  }
  return { ok: true, text: [...fields.values()].join(separator), parameters, fields }
}
