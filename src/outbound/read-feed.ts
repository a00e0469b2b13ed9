import { readLastPosition } from '../database/feed.ts'
import type { FeedRow } from '../database/read-feed-rows.ts'
import type { EventType } from '../events/catalogue.ts'
import type { Duration } from '../kernel/duration.ts'
import { loadOutgoing, type LoadedRow, type OutgoingContext } from './load-outgoing.ts'
import { feedEventOf, gatewayOf, type FeedEvent } from '../wire/outgoing-event.ts'
import { findCursor, type FeedCursor, type FeedPlace, type FeedStart } from './feed-cursor.ts'
import type { FeedRows } from './feed-rows.ts'
import type { FeedWatch } from './feed-watch.ts'

/** Which events of the feed are wanted; all of them if left out. */
export interface FeedFilter {
  readonly types?: readonly EventType[]
  /** The gateway of what the event is about. */
  readonly gateway?: string
}

export interface FeedPage {
  readonly data: readonly FeedEvent[]
  /** Behind the last event that was looked at, wanted or not. */
  readonly next: FeedCursor
  /** There is more to look at already. */
  readonly hasMore: boolean
}

/** The place to begin at: see `findCursor`. */
export async function beginAt(context: FeedContext, start: FeedStart): Promise<FeedCursor> {
  await context.rows.verify()
  return findCursor(context, start)
}

export interface FeedContext extends OutgoingContext, FeedPlace {
  readonly rows: FeedRows
  readonly watch: FeedWatch
}

/** How many windows of the feed one page looks at. */
const mostWindows = 20

/** The next wanted events, at most `limit`. It ends before a position that is missing. */
export async function readFeed(
  context: FeedContext,
  from: FeedCursor,
  { limit, ...filter }: FeedFilter & { readonly limit: number },
): Promise<FeedPage> {
  const data: FeedEvent[] = []
  let next = from
  for (let windows = 0; windows < mostWindows; windows += 1) {
    const rows = await context.rows.beyond(next.position)
    const newest = rows.at(-1)
    if (newest === undefined) return { data, next, hasMore: false }
    const room = limit - data.length
    data.push(...(await pick(context, rows, { ...filter, room })))
    const last = data.at(-1)
    if (last !== undefined && data.length === limit) {
      next = { cursor: last.id, position: BigInt(last.position) }
      return { data, next, hasMore: await isBehind(context, next) }
    }
    next = { cursor: newest.id, position: newest.position }
  }
  return { data, next, hasMore: await isBehind(context, next) }
}

async function isBehind({ db }: FeedContext, { position }: FeedCursor): Promise<boolean> {
  return position < (await readLastPosition(db))
}

/** The first wanted events among rows, at most `room`. */
async function pick(
  context: FeedContext,
  rows: readonly FeedRow[],
  { types, gateway, room }: FeedFilter & { readonly room: number },
): Promise<readonly FeedEvent[]> {
  const wanted = types === undefined ? rows : rows.filter(({ type }) => isAmong(types, type))
  const loaded = await loadFeed(context, gateway === undefined ? wanted.slice(0, room) : wanted)
  const found = gateway === undefined ? loaded : loaded.filter((one) => isOfGateway(one, [gateway]))
  return found.slice(0, room).map(({ event }) => event)
}

function isAmong(types: readonly EventType[], type: string): boolean {
  return (types as readonly string[]).includes(type)
}

/** As it goes out. */
export interface LoadedEvent extends Pick<LoadedRow<FeedRow>, 'isBare'> {
  readonly event: FeedEvent
}

/** With their subjects as they stand. */
export async function loadFeed(
  context: OutgoingContext,
  rows: readonly FeedRow[],
): Promise<readonly LoadedEvent[]> {
  const events = await loadOutgoing(context, rows)
  return events.map(({ row, event, isBare }) => ({ event: feedEventOf(event, row), isBare }))
}

/** Whether it is of one of these gateways, or may be. */
export function isOfGateway({ event, isBare }: LoadedEvent, gateways: readonly string[]): boolean {
  return isBare || gateways.includes(gatewayOf(event) ?? '')
}

/** The same place, if its event is still there: see `findCursor`. */
async function verified(context: FeedContext, place: FeedCursor): Promise<FeedCursor> {
  const isKnown = place.position === 0n || context.rows.idAt(place.position) === place.cursor
  return isKnown ? place : findCursor(context, { after: place.cursor })
}

/** How a reader follows the feed. */
export interface FollowOptions extends FeedFilter {
  /** Events of one page at most. */
  readonly limit: number
  /** How long one page waits for its first event. */
  readonly wait: Duration
  readonly signal: AbortSignal
}

/**
 * The feed page by page, without an end: the first at once, each other when there is an event of it,
 * or after `wait`. Ends when the signal aborts, or the feed is closed. Error: `feed_crowded`.
 */
export async function* followFeed(
  context: FeedContext,
  from: FeedCursor,
  { wait, signal, ...query }: FollowOptions,
): AsyncGenerator<FeedPage, void> {
  const subscription = context.watch.subscribe()
  const over = AbortSignal.any([signal, context.watch.stopping])
  try {
    let next = from
    let until: AbortSignal = AbortSignal.abort()
    while (!over.aborted) {
      const page = await readFeed(context, await verified(context, next), query)
      next = page.next
      const isDue = page.data.length > 0 || until.aborted
      if (isDue) yield page
      if (isDue) until = AbortSignal.any([over, AbortSignal.timeout(wait)])
      if (!page.hasMore && page.data.length === 0) await subscription.grown(until)
    }
  } finally {
    subscription.end()
  }
}
