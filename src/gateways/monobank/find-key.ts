import type { KeyObject } from 'node:crypto'
import type { Duration } from '../../kernel/duration.ts'
import { isQuittanceError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import { within } from '../../kernel/within.ts'
import { createProviderApi } from '../api/provider-api.ts'
import { path, textOf, type JsonValue } from '../body/json.ts'
import { readPublicKey } from './public-key.ts'

/** Where a merchant's key is fetched. */
export interface KeySource {
  readonly base: string
  readonly token: Secret
  readonly account?: string | undefined
}

/**
 * - `key_unavailable`: no reply in time;
 * - `key_refused`: the bank refuses the token, or has no such endpoint;
 * - `key_unusable`: the reply carries no EC P-256 key.
 */
export const keyFailures = ['key_unavailable', 'key_refused', 'key_unusable'] as const

export type KeyResult =
  | { readonly ok: true; readonly key: KeyObject }
  | { readonly ok: false; readonly reason: (typeof keyFailures)[number] }

/** `GET /api/merchant/pubkey`: `{"key": "<base64 of a PEM>"}`. Never throws. */
export async function findKey(
  { base, token, account }: KeySource,
  timeout: Duration,
): Promise<KeyResult> {
  let reply: JsonValue | undefined
  try {
    const headers = { 'x-token': token.reveal() }
    const api = createProviderApi({ title: 'monobank', base, headers, account })
    reply = await within(
      timeout,
      () => new Error('the key did not come in time'),
      (signal) => api.get('api/merchant/pubkey', { signal }),
    )
  } catch (error) {
    return { ok: false, reason: reasonOf(error) }
  }
  if (reply === undefined) return { ok: false, reason: 'key_refused' }
  const key = readPublicKey(textOf(path(reply, 'key')) ?? '')
  return key === undefined ? { ok: false, reason: 'key_unusable' } : { ok: true, key }
}

function reasonOf(error: unknown): Extract<KeyResult, { ok: false }>['reason'] {
  const code = isQuittanceError(error) ? error.code : undefined
  if (code === 'provider_refused') return 'key_refused'
  return code === 'provider_reply_invalid' ? 'key_unusable' : 'key_unavailable'
}
