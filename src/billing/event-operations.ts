import { findEvent, listEvents } from '../database/events.ts'
import type { EventRecord } from '../events/event-record.ts'
import { fieldError } from '../kernel/errors.ts'
import { isUuid } from '../kernel/ids.ts'
import { refuseInsideListener } from '../listeners/listener-scope.ts'
import { findCursor, type FeedCursor } from '../outbound/feed-cursor.ts'
import { loadOutgoing, type OutgoingContext } from '../outbound/load-outgoing.ts'
import { awaitFeed, readFeed, type FeedContext } from '../outbound/read-feed.ts'
import { listedEventOf, type FeedEvent, type ListedEvent } from '../wire/outgoing-event.ts'
import type { EventOperations, FeedQuery, FeedResult, ReadEventsOptions } from './event-types.ts'
import { checked, eventsQuery, feedQuery, readEventsQuery } from './list-queries.ts'
import type { Parts } from './parts.ts'
import type { Runtime } from './runtime.ts'

/** `billing.events` */
export function eventOperations(runtime: Runtime): EventOperations {
  const opened = async (what: string) => {
    refuseInsideListener(`billing.events.${what}`)
    return feedContextOf(await runtime.parts())
  }
  return {
    list: async (query = {}) => {
      const context = await opened('list')
      const page = await listEvents(context.db, checked(eventsQuery, query))
      return { ...page, data: await listed(context, page.data) }
    },
    get: async (id) => {
      const context = await opened('get')
      const found = isUuid(id) ? await findEvent(context.db, id) : undefined
      if (found === undefined) return undefined
      const [event] = await listed(context, [found])
      return event
    },
    feed: async (query = {}) => {
      const asked = checkedStart(checked(feedQuery, query))
      return readPage(await opened('feed'), asked)
    },
    read: (options = {}) => {
      const asked = checkedStart(checked(readEventsQuery, options))
      return readOn(() => opened('read'), asked)
    },
  }
}

/** What reads the feed of this process. */
export function feedContextOf({ processing, feed }: Pick<Parts, 'processing' | 'feed'>) {
  const { rows, watch } = feed
  return { ...processing, db: processing.database.db, rows, watch } satisfies FeedContext
}

async function listed(
  context: OutgoingContext,
  records: readonly EventRecord[],
): Promise<readonly ListedEvent[]> {
  const rows = records.map((record) => ({
    record,
    id: record.id,
    dedup_key: record.dedupKey,
    type: record.type,
    payment_id: record.paymentId,
    payment_method_id: record.paymentMethodId,
    subscription_id: record.subscriptionId,
    invoice_id: record.invoiceId,
    superseded: record.superseded,
    data: JSON.stringify(record.data),
    created_at: record.createdAt,
  }))
  const loaded = await loadOutgoing(context, rows)
  return loaded.map(({ row, event }) => listedEventOf(row.record, event))
}

function checkedStart<Options extends ReadEventsOptions>(options: Options): Options {
  if (options.after === undefined || options.since === undefined) return options
  throw fieldError('query_invalid', 'since', 'cannot be given together with after')
}

const defaultLimit = 100
const never = new AbortController().signal

async function readPage(context: FeedContext, query: FeedQuery): Promise<FeedResult> {
  const from = await findCursor(context.db, query)
  const { data, next, hasMore } = await readFrom(context, from, query)
  return { data, nextCursor: next.cursor, hasMore }
}

function readFrom(context: FeedContext, from: FeedCursor, query: FeedQuery) {
  const { types, gateway, limit = defaultLimit, wait = 0, signal = never } = query
  const asked = { limit, ...(types && { types }), ...(gateway !== undefined && { gateway }) }
  if (wait === 0) return readFeed(context, from, asked)
  return awaitFeed(context, from, { ...asked, wait, signal })
}

/** How long one look of a reader without an end waits. */
const lookFor = 30_000

/** Each page finds its place by the last event: after a restore there is none, and that is said. */
async function* readOn(
  opened: () => Promise<FeedContext>,
  { after, since, ...filter }: ReadEventsOptions,
): AsyncGenerator<FeedEvent, void> {
  const context = await opened()
  const { signal = never } = filter
  let { cursor } = await findCursor(context.db, { after, since })
  const { stopping } = context.watch
  while (!signal.aborted && !stopping.aborted) {
    const from = await findCursor(context.db, { after: cursor })
    const { data, next } = await readFrom(context, from, { ...filter, wait: lookFor })
    yield* data
    cursor = next.cursor
  }
}
