import type { Database } from '../database/connect.ts'
import type { Log } from '../kernel/log.ts'
import { createFeedRows, type FeedRows } from './feed-rows.ts'
import { createFeedWatch, type FeedWatch } from './feed-watch.ts'
import { createEventNumberer, type EventNumberer } from './number-events.ts'

/** The feed of events in this process. */
export interface Feed {
  readonly numberer: EventNumberer
  readonly rows: FeedRows
  readonly watch: FeedWatch
  stop(): Promise<void>
}

export function openFeed(database: Database, log: Log): Feed {
  const numberer = createEventNumberer({ database, log })
  const watch = createFeedWatch({ database, numberer, log })
  return {
    numberer,
    rows: createFeedRows(database),
    watch,
    async stop() {
      await Promise.all([watch.stop(), numberer.stop()])
    },
  }
}
