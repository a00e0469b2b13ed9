import type { Secret } from '../../kernel/secret.ts'
import { textOf, type JsonObject } from '../body/json.ts'
import { invalid, valid, type Credentials, type RawRequest, type Verdict } from '../gateway.ts'
import { decodeCanonicalHex } from '../signing/canonical-hex.ts'
import { constantTimeEqual } from '../signing/constant-time-equal.ts'
import { hmacMd5 } from '../signing/hmac-md5.ts'
import {
  fieldsOf,
  parseCallback,
  readSignedFields,
  separator,
  signedFieldNames,
  type SignedFields,
} from './payload.ts'

const digestBytes = 16

/** Checks the signature in the body; no header is read. */
export function verifySignature(request: RawRequest, credentials: Credentials): Verdict {
  const payload = parseCallback(request)
  if (payload.kind === 'unreadable') return invalid(payload.reason)
  const found = authenticate(fieldsOf(payload), credentials)
  return found.ok ? valid : invalid(found.reason)
}

export type Authentication =
  | {
      readonly ok: true
      readonly signed: SignedFields
      /** The secret that it was signed with: the answer must be signed with the same. */
      readonly secret: Secret
    }
  | { readonly ok: false; readonly reason: string }

/**
 * Whether these fields, of a callback or of a reply of the API, are signed by WayForPay for our
 * merchant account.
 */
export function authenticate(
  fields: JsonObject | undefined,
  { secrets, settings }: Credentials,
): Authentication {
  const keys = secrets.secret_key ?? []
  const merchantAccount = settings.merchant_account ?? ''
  if (keys.length === 0 || merchantAccount === '') return refused('not_configured')
  if (fields === undefined) return refused('body_not_an_object')
  const read = readSignedFields(fields)
  if (!read.ok) return refused(read.reason)
  if (read.signed.merchantAccount !== merchantAccount) return refused('merchant_account_mismatch')
  const value = fields.get('merchantSignature') ?? ''
  if (value === '') return refused('signature_missing')
  const sent = textOf(value)
  const signature = sent === undefined ? undefined : decodeCanonicalHex(sent, digestBytes)
  if (signature === undefined) return refused('signature_malformed')
  const text = joined(signedFieldNames.map((name) => read.signed[name]))
  const secret = keys.find((key) => constantTimeEqual(hmacMd5(key, text), signature))
  return secret === undefined
    ? refused('signature_mismatch')
    : { ok: true, signed: read.signed, secret }
}

/** The signature of these texts in this order, as WayForPay writes it. */
export function signTexts(secret: Secret, texts: readonly string[]): string {
  return Buffer.from(hmacMd5(secret, joined(texts))).toString('hex')
}

function joined(texts: readonly string[]): string {
  return texts.join(separator)
}

function refused(reason: string): Authentication {
  return { ok: false, reason }
}
