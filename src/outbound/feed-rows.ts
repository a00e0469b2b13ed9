import type { Database } from '../database/connect.ts'
import { findPosition } from '../database/feed.ts'
import { readFeedRows, type FeedRow } from '../database/read-feed-rows.ts'
import { seconds } from '../kernel/duration.ts'

/** The rows of the feed; all readers of a process share the newest. */
export interface FeedRows {
  /** Those right behind a position, a limited number of them; none: there are none yet. */
  beyond(position: bigint): Promise<readonly FeedRow[]>
  /** The id of the event at a position, if it is held. */
  idAt(position: bigint): string | undefined
  /** Forgets what is held if the database was replaced: it is of another one. */
  verify(): Promise<void>
}

/** Rows in one query at most. */
export const feedWindow = 500
/** Rows that are held at most. */
const mostHeld = 2_000
/** What is held is taken as it is for this long. */
const trustedFor = seconds(1)

/** `read`: another one for tests. */
export function createFeedRows(database: Database, read = readFeedRows): FeedRows {
  const { db } = database
  /** One after the other, without a gap. */
  let held: readonly FeedRow[] = []
  let verifiedAt = 0
  /** A look behind the newest that is held, which all readers share who are there. */
  let reading: { readonly position: bigint; readonly rows: Promise<readonly FeedRow[]> } | undefined
  const readBeyond = (position: bigint) => read(db, position, feedWindow)
  const verify = async () => {
    const last = held.at(-1)
    if (last !== undefined && (await findPosition(db, last.id)) !== last.position) held = []
    verifiedAt = performance.now()
  }
  const extend = async (last: bigint) => {
    const rows = await readBeyond(last)
    if (held.at(-1)?.position === last) held = [...held, ...rows].slice(-mostHeld)
    return rows
  }
  const share = (position: bigint) => {
    if (reading?.position === position) return reading.rows
    const rows = extend(position).finally(() => {
      if (reading?.rows === rows) reading = undefined
    })
    reading = { position, rows }
    return rows
  }
  return {
    async beyond(position) {
      if (performance.now() - verifiedAt > trustedFor) await verify()
      const [first] = held
      const last = held.at(-1)
      if (first && last && position >= first.position - 1n && position < last.position) {
        const from = Number(position + 1n - first.position)
        return held.slice(from, from + feedWindow)
      }
      if (position === last?.position) {
        const hasBegun = reading?.position === position
        const rows = await share(position)
        // One that had begun before may have looked before that was committed which woke this reader.
        return hasBegun && rows.length === 0 ? share(position) : rows
      }
      const found = await readBeyond(position)
      // Whoever is behind is not followed: the newest rows are those that others ask for.
      if ((found.at(-1)?.position ?? 0n) > (held.at(-1)?.position ?? 0n)) held = found
      return found
    },
    idAt: (position) => held[Number(position - (held[0]?.position ?? 0n))]?.id,
    verify,
  }
}
