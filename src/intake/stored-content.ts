import { bodyContext } from '../database/calls.ts'
import type { Payload, UnparsedPayload } from '../gateways/body/payload.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { Cipher } from '../kernel/encryption.ts'
import type { NewCall } from './insert-calls.ts'
import { maskCardData } from './mask-card-data.ts'
import { maskSecrets } from './mask-secrets.ts'

type Content = Pick<NewCall, 'kind' | 'payload' | 'bytes' | 'bytesEncrypted'>

interface Body {
  readonly callId: string
  readonly bytes: Uint8Array
  readonly payload: Payload | UnparsedPayload
}

/** What a gateway masks, and what must stay as it is. */
type MaskedFields = Pick<Gateway, 'secretFields' | 'readFields'>

/**
 * What is stored of a body. If it carries card data, or values in the gateway's secret fields, the
 * payload masks them and the exact bytes are kept encrypted; without a key they are not kept.
 */
export function storedContent(
  { callId, bytes, payload }: Body,
  { secretFields, readFields }: MaskedFields,
  cipher: Cipher | undefined,
): Content {
  const encrypted = () =>
    cipher && { bytes: cipher.encrypt(bytes, bodyContext(callId)), bytesEncrypted: true }
  const inClear = { bytes, bytesEncrypted: false }
  const shown = 'value' in payload ? maskSecrets(payload, secretFields) : payload
  if (shown.kind === 'unreadable') {
    // It may carry a secret that cannot be found; without a key it is kept all the same, because
    // nothing signed may be lost.
    return { kind: 'unreadable', payload: null, ...(encrypted() ?? inClear) }
  }
  const text = maskCardData(shown.text, readFields)
  const readable = { kind: shown.kind, payload: text }
  const alone = { bytes: null, bytesEncrypted: false }
  const isMasked = shown !== payload || text !== payload.text
  if (isMasked) return { ...readable, ...(encrypted() ?? alone) }
  return { ...readable, ...(shown.exact ? alone : inClear) }
}
