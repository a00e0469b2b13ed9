import {
  findEvent,
  listAttemptsOf,
  listEventFailures,
  listEvents,
  listForwardsOf,
} from '../database/events.ts'
import type { EventRecord } from '../events/event-record.ts'
import { fieldError } from '../kernel/errors.ts'
import { readUuid, withUuid } from '../kernel/uuid.ts'
import { refuseInsideListener } from '../listeners/listener-scope.ts'
import { loadOutgoing, type OutgoingContext } from '../outbound/load-outgoing.ts'
import {
  beginAt,
  followFeed,
  readFeed,
  type FeedContext,
  type FeedPage,
  type FollowOptions,
} from '../outbound/read-feed.ts'
import { listedEventOf, type FeedEvent, type ListedEvent } from '../wire/outgoing-event.ts'
import type {
  EventHistory,
  EventOperations,
  FeedQuery,
  FeedResult,
  ReadEventsOptions,
} from './event-types.ts'
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
      const found = await withUuid(id, (known) => findEvent(context.db, known))
      if (found === undefined) return undefined
      const [event] = await listed(context, [found])
      return event
    },
    history: async (id) => historyOf((await opened('history')).db, id),
    feed: async (query = {}) => {
      const asked = checkedStart(checked(feedQuery, query))
      return readPage(await opened('feed'), asked)
    },
    pages: (query = {}) => {
      const asked = checkedStart(checked(feedQuery, query))
      return readPages(() => opened('pages'), asked)
    },
    read: (options = {}) => {
      const asked = checkedStart(checked(readEventsQuery, options))
      return eachEvent(readPages(() => opened('read'), asked))
    },
  }
}

async function historyOf(db: FeedContext['db'], id: string): Promise<EventHistory> {
  const known = readUuid(id)
  if (known === undefined) return { failedAttempts: [], forwards: [], attempts: [] }
  return {
    failedAttempts: await listEventFailures(db, known),
    forwards: await listForwardsOf(db, known),
    attempts: await listAttemptsOf(db, known),
  }
}

/** What reads the feed of this process. */
export function feedContextOf({
  open,
  processing,
  feed,
}: Pick<Parts, 'open' | 'processing' | 'feed'>) {
  const { rows, watch, numberer } = feed
  return { ...processing, db: open.database.db, rows, watch, numberer } satisfies FeedContext
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
/** How long a page of a reader without an end waits. */
const defaultWait = 30_000

/** The first event of the feed may be some pages away. */
async function readPage(context: FeedContext, query: FeedQuery): Promise<FeedResult> {
  const from = await beginAt(context, query)
  const wait = query.wait ?? 0
  if (wait === 0) return resultOf(await readFeed(context, from, followed(query)))
  const pages = followFeed(context, from, followed({ ...query, wait }))
  let last: FeedPage | undefined
  for await (const page of pages) {
    // The first comes at once, the second after the wait.
    if (page.data.length > 0 || last !== undefined) return resultOf(page)
    last = page
  }
  return resultOf(last ?? { data: [], next: from, hasMore: false })
}

async function* readPages(
  opened: () => Promise<FeedContext>,
  query: FeedQuery,
): AsyncGenerator<FeedResult, void> {
  const context = await opened()
  const from = await beginAt(context, query)
  for await (const page of followFeed(context, from, followed(query))) yield resultOf(page)
}

async function* eachEvent(pages: AsyncIterable<FeedResult>): AsyncGenerator<FeedEvent, void> {
  for await (const { data } of pages) yield* data
}

function followed({ types, gateway, limit, wait, signal }: FeedQuery): FollowOptions {
  return {
    limit: limit ?? defaultLimit,
    wait: wait ?? defaultWait,
    signal: signal ?? never,
    ...(types && { types }),
    ...(gateway !== undefined && { gateway }),
  }
}

function resultOf({ data, next, hasMore }: FeedPage): FeedResult {
  return { data, nextCursor: next.cursor, hasMore }
}
