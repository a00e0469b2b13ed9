import type { KeyObject } from 'node:crypto'
import { minutes, seconds, type Duration } from '../../kernel/duration.ts'
import { findKey, type KeyResult, type KeySource } from './find-key.ts'

/** The bank's keys as last fetched, by API base and token. */
export interface KeyCache {
  /** The key if there is one, without asking. */
  peek(source: KeySource): KeyObject | undefined
  /** Asks, joins whoever is asking, or leaves it while it is too early; then what is known. */
  renew(source: KeySource, at: RenewAt): Promise<KeyResult>
}

export interface RenewAt {
  readonly now: Date
  /** Some key is known already, so that the bank need not be asked in a hurry. */
  readonly known: boolean
}

/** The bank publishes no limit; asking too often ends in 429 for the token's other uses. */
const pauseWithKey = minutes(1)
/** Without any key no callback gets in, so the pause after a failure is short. */
const pauseWithoutKey = seconds(5)

interface Entry {
  key?: KeyObject
  asked?: Asked
  pending?: boolean
}

/** The last time that the bank was asked, and what came or will come of it. */
interface Asked {
  readonly at: number
  readonly result: Promise<KeyResult>
}

/**
 * The allowance to ask comes back by time alone and belongs to no callback: however many bad
 * signatures arrive, the first failure after the pause asks again, so a changed key is known at
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

/** Both ways: a clock that was set back must not stop the asking. */
function isDue({ at }: Asked, { now, known }: RenewAt): boolean {
  return Math.abs(now.getTime() - at) >= (known ? pauseWithKey : pauseWithoutKey)
}

/** A failure leaves the key that was known: the bank's endpoint is no part of the intake. */
async function ask(entry: Entry, source: KeySource, timeout: Duration): Promise<KeyResult> {
  const result = await findKey(source, timeout)
  if (result.ok) entry.key = result.key
  entry.pending = false
  return result
}
