import type { Database } from '../database/connect.ts'
import { readFeedRows, type FeedRow } from '../database/read-feed-rows.ts'

/** The rows of the feed; all readers of a process share the newest. */
export interface FeedRows {
  /** Those right behind a position, a limited number of them; none: there are none yet. */
  beyond(position: bigint): Promise<readonly FeedRow[]>
  /** Forgets what it holds: it may be of a database that has been replaced. */
  forget(): void
}

/** Rows in one query at most. */
export const feedWindow = 500
/** Rows that are held at most. */
const mostHeld = 2_000

export function createFeedRows(database: Database): FeedRows {
  /** One after the other, without a gap. */
  let held: readonly FeedRow[] = []
  let reading: Promise<readonly FeedRow[]> | undefined
  const read = (position: bigint) => readFeedRows(database.db, position, feedWindow)
  /** Reads the last one once more: where the database was replaced, another event is there. */
  const extend = async ({ id, position }: FeedRow) => {
    const [last, ...rows] = await read(position - 1n)
    if (last?.id !== id) {
      held = []
      return read(position)
    }
    if (held.at(-1)?.id === id) held = [...held, ...rows].slice(-mostHeld)
    return rows
  }
  const rows: FeedRows = {
    async beyond(position) {
      const [first] = held
      const last = held.at(-1)
      if (first && last && position >= first.position - 1n && position < last.position) {
        const from = Number(position + 1n - first.position)
        return held.slice(from, from + feedWindow)
      }
      if (position === last?.position) {
        reading ??= extend(last).finally(() => {
          reading = undefined
        })
        return reading
      }
      const found = await read(position)
      // Whoever is behind is not followed: the newest rows are those that others ask for.
      if ((found.at(-1)?.position ?? 0n) > (held.at(-1)?.position ?? 0n)) held = found
      return found
    },
    forget() {
      held = []
    },
  }
  database.onReconnect(rows.forget)
  return rows
}
