import type { EventsQuery } from '../database/events.ts'
import type { Page } from '../database/page.ts'
import type { EventType } from '../events/catalogue.ts'
import type { EventForward, EventForwardAttempt } from '../events/endpoint.ts'
import type { FailedAttempt } from '../events/failed-attempt.ts'
import type { FeedEvent, ListedEvent } from '../wire/outgoing-event.ts'

/** Where the feed is read, and which events of it are wanted. */
export interface ReadEventsOptions {
  /** Behind this event; `start` (if left out) or `end`: all, or only what comes from now on. */
  readonly after?: string | undefined
  /** Instead: the events from this time on. */
  readonly since?: Date | undefined
  /** All types if left out. */
  readonly types?: readonly EventType[] | undefined
  /** Events about what this gateway carries. */
  readonly gateway?: string | undefined
  /** Ends the reading. */
  readonly signal?: AbortSignal | undefined
}

/** The same for one page. */
export interface FeedQuery extends ReadEventsOptions {
  /** 1 to 500, default 100. */
  readonly limit?: number | undefined
  /** How long to wait for the first event, in ms; `feed` does not wait by default. */
  readonly wait?: number | undefined
}

/** Some events of the feed, oldest first. */
export interface FeedResult {
  readonly data: readonly FeedEvent[]
  /** What to read on after: behind the last event that was looked at, wanted or not. */
  readonly nextCursor: string
  /** There is more already. */
  readonly hasMore: boolean
}

/** What became of an event at listeners and endpoints; of each list the last hundred. */
export interface EventHistory {
  /** Attempts at it by queued listeners, or at its own dispatch, that have failed; oldest first. */
  readonly failedAttempts: readonly FailedAttempt[]
  /** How it stands at endpoints where it did not go at first, or was sent again. */
  readonly forwards: readonly EventForward[]
  /** The requests by which it was sent, newest first. */
  readonly attempts: readonly EventForwardAttempt[]
}

/** `billing.events` */
export interface EventOperations {
  /** Newest first. Errors: query_invalid, cursor_invalid. */
  list(query?: EventsQuery): Promise<Page<ListedEvent>>
  /** Undefined for an id that no event has. */
  get(id: string): Promise<ListedEvent | undefined>
  /** What became of it elsewhere; empty for an id that no event has. */
  history(id: string): Promise<EventHistory>
  /**
   * The next events of the feed: each once, in an order that never changes, whatever was committed
   * late. Errors: query_invalid, cursor_invalid; cursor_unknown, if the database was restored;
   * feed_crowded, if it would wait and too many do.
   */
  feed(query?: FeedQuery): Promise<FeedResult>
  /**
   * The feed without an end, page by page: for those who store many events together, with
   * `nextCursor`. The first page comes at once, each other when it has an event, or, empty, after
   * `wait`. Errors: those of `feed`.
   */
  pages(query?: FeedQuery): AsyncIterable<FeedResult>
  /**
   * The feed without an end, event by event. Store `event.id` together with what you do for the event, and go on
   * after it. Errors: those of `feed`.
   */
  read(options?: ReadEventsOptions): AsyncIterable<FeedEvent>
}
