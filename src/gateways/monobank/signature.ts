import type { KeyObject } from 'node:crypto'
import { minutes, seconds, type Duration } from '../../kernel/duration.ts'
import type { Credentials } from '../credential-fields.ts'
import { invalid, unavailable, valid, type RawRequest, type Verdict } from '../gateway.ts'
import { headerRefusals, isSignedWith, readSignature, signatureHeader } from './ecdsa.ts'
import { findKey, keyFailures, type KeyResult, type KeySource } from './find-key.ts'
import { readPublicKeys } from './public-key.ts'

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

/** The bank's keys as last fetched, by API base and token. */
interface KeyCache {
  /** The known key, if there is one, without a request. */
  peek(source: KeySource): KeyObject | undefined
  /**
   * Asks the bank, joins a request under way, or does nothing if it is too early; then returns what
   * is known.
   */
  renew(source: KeySource, at: RenewAt): Promise<KeyResult>
}

interface RenewAt {
  readonly now: Date
  /** Whether a key is known already, so that there is no hurry to ask the bank. */
  readonly known: boolean
}

/** The bank publishes no limit; asking too often leads to 429 for the token's other uses. */
const pauseWithKey = minutes(1)
/** Without a key no callback is accepted, so the pause after a failure is short. */
const pauseWithoutKey = seconds(5)

interface Entry {
  key?: KeyObject
  asked?: Asked
  pending?: boolean
}

/** The last request to the bank, and its present or future result. */
interface Asked {
  readonly at: number
  readonly result: Promise<KeyResult>
}

/**
 * Time alone renews the permission to ask, and it belongs to no callback: however many bad
 * signatures arrive, the first failure after the pause asks again. So a changed key is known at
 * most one pause after its first callback.
 */
function createKeyCache(timeout: Duration): KeyCache {
  const entries = new Map<string, Entry>()
  const entryOf = ({ base, token }: KeySource): Entry => {
    const name = JSON.stringify([base, token.reveal()])
    const entry = entries.get(name) ?? {}
    entries.set(name, entry)
    return entry
  }
  return {
    peek: (source) => entryOf(source).key,
    renew(source, at) {
      const entry = entryOf(source)
      if (entry.asked === undefined || (!entry.pending && isDue(entry.asked, at))) {
        entry.pending = true
        entry.asked = { at: at.now.getTime(), result: ask(entry, source, timeout) }
      }
      return entry.asked.result
    },
  }
}

/** In both directions: a clock that was set back must not stop the requests. */
function isDue({ at }: Asked, { now, known }: RenewAt): boolean {
  return Math.abs(now.getTime() - at) >= (known ? pauseWithKey : pauseWithoutKey)
}

/** A failure keeps the known key: the intake does not depend on the bank's endpoint. */
async function ask(entry: Entry, source: KeySource, timeout: Duration): Promise<KeyResult> {
  const result = await findKey(source, timeout)
  if (result.ok) entry.key = result.key
  entry.pending = false
  return result
}
