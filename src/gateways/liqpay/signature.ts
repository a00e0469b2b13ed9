import type { Secret } from '../../kernel/secret.ts'
import { textOf, type JsonValue } from '../body/json.ts'
import { unreadableReasons } from '../body/payload.ts'
import { invalid, validIn, type RawRequest, type Verdict } from '../gateway.ts'
import type { Credentials } from '../credential-fields.ts'
import { decodeCanonicalBase64 } from '../signing/canonical-base64.ts'
import { constantTimeEqual } from '../signing/constant-time-equal.ts'
import { sha1 } from '../signing/sha1.ts'
import { readEnvelope } from './read-envelope.ts'

const digestBytes = 20

const outerRefusals = unreadableReasons.map((reason) => `body_${reason}` as const)

export const refusalReasons = [
  'not_configured',
  ...outerRefusals,
  'field_nested',
  'data_missing',
  'data_malformed',
  'signature_missing',
  'signature_malformed',
  'signature_mismatch',
] as const
type RefusalReason = (typeof refusalReasons)[number]

/** Other systems would read them as parts of the two fields that count. */
const nestedName = /^(?:data|signature)[[.]/

/**
 * `signature`: base64 of the 20 bytes of SHA-1 over the private key, the text of `data` as it was
 * sent, and the private key once more. Until that is verified nothing inside `data` is read, least
 * of all the public key: it is no secret. https://www.liqpay.ua/doc/api/callback
 */
export function verifySignature(
  request: RawRequest,
  credentials: Credentials,
): Verdict<RefusalReason> {
  const keys = credentials.secrets.private_key ?? []
  // With an empty key anyone could sign.
  if (!credentials.configured || keys.every(isEmpty)) return invalid('not_configured')
  const envelope = readEnvelope(request.body)
  if (!envelope.ok) return invalid(`body_${envelope.reason}`)
  const { fields } = envelope
  if (Array.from(fields.keys()).some((name) => nestedName.test(name))) {
    return invalid('field_nested')
  }
  const fault = missingFault(fields, 'data') ?? missingFault(fields, 'signature')
  if (fault !== undefined) return invalid(fault)
  const data = textOf(fields.get('data'))
  if (data === undefined) return invalid('data_malformed')
  const sent = textOf(fields.get('signature'))
  if (sent === undefined) return invalid('signature_malformed')
  const signature = decodeCanonicalBase64(sent)
  if (signature?.byteLength !== digestBytes) return invalid('signature_malformed')
  const made = (key: Secret) =>
    !isEmpty(key) && constantTimeEqual(signature, signatureOf(key, data))
  const found = keys.findIndex(made)
  if (found === -1) return invalid('signature_mismatch')
  return validIn(new URLSearchParams({ data, signature: sent }).toString(), found)
}

function isEmpty(key: Secret): boolean {
  return key.reveal() === ''
}

/** The 20 bytes with which LiqPay would sign this text of `data`. */
export function signatureOf(privateKey: Secret, data: string): Uint8Array {
  return sha1([privateKey.reveal(), data, privateKey.reveal()])
}

function missingFault(
  fields: ReadonlyMap<string, JsonValue>,
  name: 'data' | 'signature',
): 'data_missing' | 'signature_missing' | undefined {
  const value = fields.get(name)
  return value === undefined || value === '' ? `${name}_missing` : undefined
}
