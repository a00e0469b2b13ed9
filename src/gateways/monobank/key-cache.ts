import type { KeyObject } from 'node:crypto'
import { minutes, seconds, type Duration } from '../../kernel/duration.ts'
import { fetchKey, type KeyResult, type KeySource } from './fetch-key.ts'

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
  key: KeyObject | undefined
  askedAt: number | undefined
  pending: Promise<KeyResult> | undefined
  last: KeyResult
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
    const entry = entries.get(name) ?? newEntry()
    entries.set(name, entry)
    return entry
  }
  return {
    peek: (source) => entryOf(source).key,
    renew(source, at) {
      const entry = entryOf(source)
      if (entry.pending === undefined && isDue(entry, at)) {
        entry.askedAt = at.now.getTime()
        entry.pending = ask(entry, source, timeout)
      }
      return entry.pending ?? Promise.resolve(entry.last)
    },
  }
}

function newEntry(): Entry {
  const last = { ok: false, reason: 'key_unavailable' } as const
  return { key: undefined, askedAt: undefined, pending: undefined, last }
}

/** Both ways: a clock that was set back must not stop the asking. */
function isDue({ askedAt }: Entry, { now, known }: RenewAt): boolean {
  if (askedAt === undefined) return true
  return Math.abs(now.getTime() - askedAt) >= (known ? pauseWithKey : pauseWithoutKey)
}

/** A failure leaves the key that was known: the bank's endpoint is no part of the intake. */
async function ask(entry: Entry, source: KeySource, timeout: Duration): Promise<KeyResult> {
  const result = await fetchKey(source, timeout)
  if (result.ok) entry.key = result.key
  entry.last = result
  entry.pending = undefined
  return result
}
