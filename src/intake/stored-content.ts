import { bodyContext } from '../database/calls.ts'
import type { Payload } from '../gateways/body/payload.ts'
import type { Cipher } from '../kernel/encryption.ts'
import type { NewCall } from './insert-calls.ts'
import { maskSecrets } from './mask-secrets.ts'

type Content = Pick<NewCall, 'kind' | 'payload' | 'bytes' | 'bytesEncrypted' | 'exact'>

interface Body {
  readonly callId: string
  readonly bytes: Uint8Array
  readonly payload: Payload
}

/**
 * What is stored of a body. Where the gateway's secret fields have values, the payload masks them
 * and the exact bytes are kept encrypted; without a key they are not kept.
 */
export function storedContent(
  { callId, bytes, payload }: Body,
  secretFields: readonly string[],
  cipher: Cipher | undefined,
): Content {
  const encrypted = () =>
    cipher && { bytes: cipher.encrypt(bytes, bodyContext(callId)), bytesEncrypted: true }
  const inClear = { bytes, bytesEncrypted: false }
  const shown = maskSecrets(payload, secretFields)
  if (shown.kind === 'unreadable') {
    // It may carry a secret that nobody can find; without a key it is kept all the same, for
    // nothing signed may be lost.
    const kept = (secretFields.length > 0 ? encrypted() : undefined) ?? inClear
    return { kind: 'unreadable', payload: null, ...kept, exact: false }
  }
  const readable = { kind: shown.kind, payload: shown.text }
  if (shown === payload) return { ...readable, ...inClear, exact: shown.exact }
  const kept = encrypted()
  if (kept !== undefined) return { ...readable, ...kept, exact: false }
  return { ...readable, bytes: Buffer.from(shown.text), bytesEncrypted: false, exact: true }
}
