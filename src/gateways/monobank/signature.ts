import { seconds, type Duration } from '../../kernel/duration.ts'
import { invalid, unavailable, valid, type RawRequest, type Verdict } from '../gateway.ts'
import type { Credentials } from '../credential-fields.ts'
import { keyFailures, type KeySource } from './find-key.ts'
import { createKeyCache } from './key-cache.ts'
import { readPublicKeys } from './public-key.ts'
import { headerRefusals, isSignedWith, readSignature, signatureHeader } from './ecdsa.ts'

export const defaultApiBase = 'https://api.monobank.ua'

/** How long intake waits for the bank's key. */
export const defaultKeyTimeout = seconds(3)

export const refusalReasons = [
  'not_configured',
  ...headerRefusals,
  'signature_mismatch',
  ...keyFailures,
] as const

export type Verifier = (
  request: RawRequest,
  credentials: Credentials,
  now: Date,
) => Promise<Verdict<(typeof refusalReasons)[number]>>

/** Makes a verifier with a key cache of its own. */
export function createVerifier(keyTimeout: Duration): Verifier {
  const cache = createKeyCache(keyTimeout)

  return async (request, credentials, now) => {
    const { public_key: setting } = credentials.settings
    const configured = setting === undefined ? [] : (readPublicKeys(setting) ?? [])
    const sources = sourcesOf(credentials)
    if (configured.length === 0 && sources.length === 0) return invalid('not_configured')
    const read = readSignature(request.headers[signatureHeader])
    if (!read.ok) return invalid(read.reason)
    const known = [...configured, ...cachedKeys(sources)]
    if (isSignedWith(known, request.body, read.signature)) return valid

    const at = { now, known: known.length > 0 }
    const results = await Promise.all(sources.map((source) => cache.renew(source, at)))
    const fetched = cachedKeys(sources)
    if (isSignedWith(fetched, request.body, read.signature)) return valid
    if (configured.length + fetched.length > 0) return invalid('signature_mismatch')
    const failure = results.find((result) => !result.ok)
    // Stryker disable next-line OptionalChaining,StringLiteral: with no key, each source has failed
    return unavailable(failure?.reason ?? 'key_unavailable')
  }

  function cachedKeys(sources: readonly KeySource[]) {
    return sources.map((source) => cache.peek(source)).filter((key) => key !== undefined)
  }
}

function sourcesOf({ secrets, settings, gateway }: Credentials): readonly KeySource[] {
  const base = settings.api_base ?? defaultApiBase
  return (secrets.token ?? []).map((token) => ({ base, token, account: gateway }))
}
