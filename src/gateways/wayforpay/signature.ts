import type { Secret } from '../../kernel/secret.ts'
import { textOf, type JsonObject } from '../body/json.ts'
import { flatFields } from '../body/parse-json.ts'
import { unreadableReasons } from '../body/payload.ts'
import { invalid, validIn, type RawRequest, type Verdict } from '../gateway.ts'
import type { Credentials } from '../credential-fields.ts'
import { decodeCanonicalHex } from '../signing/canonical-hex.ts'
import { md5 } from '../signing/hmac.ts'
import {
  fieldsOf,
  parseCallback,
  readSignedTexts,
  separator,
  signedBodyOf,
  signedFieldFaults,
  signedFieldNames,
  type SignedFieldName,
  type SignedTexts,
} from './payload.ts'

const digestBytes = 16

const fieldRefusals = [
  'not_configured',
  'body_not_an_object',
  ...signedFieldFaults,
  'merchant_account_mismatch',
  'signature_missing',
  'signature_malformed',
  'signature_mismatch',
] as const
type FieldRefusal = (typeof fieldRefusals)[number]

export const refusalReasons = [...unreadableReasons, ...fieldRefusals] as const
type RefusalReason = (typeof refusalReasons)[number]

/**
 * Checks the signature in the body; no header is read. The holder of a genuine callback can add any
 * number of fields to it, so only as much is read as it takes to find the signed ones.
 */
export function verifySignature(
  request: RawRequest,
  credentials: Credentials,
): Verdict<RefusalReason> {
  const payload = parseCallback(request, flatFields)
  if (payload.kind === 'unreadable') return invalid(payload.reason)
  const fields = fieldsOf(payload)
  const found = authenticate(fields, credentials)
  if (!found.ok) return invalid(found.reason)
  return validIn(signedBodyOf(fields ?? new Map()), found.secretIndex)
}

export type Authentication<Name extends SignedFieldName = SignedFieldName> =
  | {
      readonly ok: true
      readonly signed: SignedTexts<Name>
      /** The secret with which it was signed: the answer must be signed with the same one. */
      readonly secret: Secret
      /** Its place among those that are configured. */
      readonly secretIndex: number
    }
  | Unauthenticated

interface Unauthenticated {
  readonly ok: false
  readonly reason: FieldRefusal
}

/**
 * Whether these fields, of a callback or of a reply that is signed like one, are signed by
 * WayForPay for our merchant account.
 */
export function authenticate(
  fields: JsonObject | undefined,
  credentials: Credentials,
): Authentication {
  return authenticateBy(signedFieldNames, fields, credentials)
}

/** The same for other signed fields, in the given order. */
export function authenticateBy<Name extends SignedFieldName>(
  names: readonly ('merchantAccount' | Name)[],
  fields: JsonObject | undefined,
  { secrets, settings }: Credentials,
): Authentication<'merchantAccount' | Name> {
  const keys = secrets.secret_key ?? []
  const merchantAccount = settings.merchant_account ?? ''
  if (keys.length === 0 || merchantAccount === '') return refused('not_configured')
  if (fields === undefined) return refused('body_not_an_object')
  const read = readSignedTexts(fields, names)
  if (!read.ok) return refused(read.reason)
  const { signed } = read
  if (signed.merchantAccount !== merchantAccount) return refused('merchant_account_mismatch')
  const value = fields.get('merchantSignature') ?? ''
  if (value === '') return refused('signature_missing')
  const sent = textOf(value)
  const signature = sent === undefined ? undefined : decodeCanonicalHex(sent, digestBytes)
  if (signature === undefined) return refused('signature_malformed')
  const parts = [joined(names.map((name) => signed[name]))]
  const secretIndex = md5.findSecret(keys, { parts, signatures: [signature] })
  const secret = keys[secretIndex]
  if (secret === undefined) return refused('signature_mismatch')
  return { ok: true, signed, secret, secretIndex }
}

/** The signature of these texts in this order, in WayForPay's form. */
export function signTexts(secret: Secret, texts: readonly string[]): string {
  return Buffer.from(md5.sign(secret, [joined(texts)])).toString('hex')
}

function joined(texts: readonly string[]): string {
  return texts.join(separator)
}

function refused(reason: FieldRefusal): Unauthenticated {
  return { ok: false, reason }
}
