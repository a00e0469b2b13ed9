import type { OpenDatabase } from '../database/open-database.ts'
import type { Intake } from '../intake/receive.ts'
import type { CallStore } from '../intake/store-calls.ts'
import type { Flush } from '../numbers/flush.ts'
import type { ProcessingContext } from '../processing/context.ts'
import type { UsageGatherer } from '../usage/gather-usage.ts'
import type { Feed } from '../outbound/feed.ts'
import type { QueueConnection } from '../queue/queue.ts'

/** What exists once the database is open. */
export interface Parts {
  readonly open: OpenDatabase
  readonly queue: QueueConnection
  readonly calls: CallStore
  readonly usage: UsageGatherer
  readonly processing: ProcessingContext
  readonly intake: Intake
  readonly feed: Feed
  readonly flush: Flush
}
