import type { KeyObject } from 'node:crypto'
import { minutes, seconds, type Duration } from '../../kernel/duration.ts'
import { findKey, type KeyResult, type KeySource } from './find-key.ts'

/** The bank's keys as last fetched, by API base and token. */
export interface KeyCache {
  /** The known key, if there is one, without a request. */
  peek(source: KeySource): KeyObject | undefined
  /**
   * Asks the bank, joins a request under way, or does nothing if it is too early; then returns what
   * is known.
   */
  renew(source: KeySource, at: RenewAt): Promise<KeyResult>
}

export interface RenewAt {
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
export function createKeyCache(timeout: Duration): KeyCache {
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
