import type { Database } from '../database/connect.ts'
import { readLastPosition } from '../database/feed.ts'
import { listenOn } from '../database/listen.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import { feedChannel, type EventNumberer } from './number-events.ts'

/** Tells readers of this process that the feed has grown; one look serves all of them. */
export interface FeedWatch {
  /**
   * While it is watched, the feed is looked at. Events that come from now on are noticed. Error:
   * `feed_crowded`, of readers alone: what goes to endpoints is not held up by them.
   */
  subscribe(who?: 'readers' | 'endpoints'): FeedSubscription
  /** Aborts when it stops: nothing is noticed any more. */
  readonly stopping: AbortSignal
  /** Ends all of it. */
  stop(): Promise<void>
}

export interface FeedSubscription {
  /** Resolves once the feed has grown since the last time, at the latest when the signal aborts. */
  grown(signal: AbortSignal): Promise<void>
  end(): void
}

export interface FeedWatchOptions {
  readonly database: Database
  readonly numberer: EventNumberer
  readonly log: Log
}

/** Readers of one process that may wait at a time. */
export const mostReaders = 200
const lookEvery = seconds(1)
/** A connection is kept for the next reader: most of them come again. */
const listeningKept: Duration = seconds(10)

export function createFeedWatch({ database, numberer, log }: FeedWatchOptions): FeedWatch {
  const wakes = new Set<() => void>()
  let readers = 0
  const wakeAll = () => {
    for (const wake of wakes) wake()
  }
  let last = 0n
  const look = async () => {
    numberer.ask()
    const found = await readLastPosition(database.db)
    // It is less where the database was restored: whoever looks then learns it.
    if (found !== last) wakeAll()
    last = found
  }
  const lookSafely = () => {
    look().catch((error: unknown) => log.debug({ err: error }, 'the feed is looked at again'))
  }
  const listening = listenWhileWatched(database, lookSafely, log)
  let timer: NodeJS.Timeout | undefined
  let unsubscribe: (() => void) | undefined
  const begin = () => {
    timer ??= setInterval(lookSafely, lookEvery)
    unsubscribe ??= numberer.onNumbered((position) => {
      last = position
      wakeAll()
    })
    listening.begin()
    numberer.ask()
  }
  const rest = () => {
    clearInterval(timer)
    timer = undefined
    unsubscribe?.()
    unsubscribe = undefined
  }
  const stopping = new AbortController()
  return {
    stopping: stopping.signal,
    subscribe(who = 'readers') {
      const isReader = who === 'readers'
      if (isReader && readers >= mostReaders) throw crowded()
      const { subscription, wake } = createSubscription(() => {
        if (!wakes.delete(wake)) return
        if (isReader) readers -= 1
        if (wakes.size > 0) return
        rest()
        listening.rest()
      })
      wakes.add(wake)
      if (isReader) readers += 1
      begin()
      return subscription
    },
    async stop() {
      stopping.abort()
      rest()
      await listening.end()
    },
  }
}

function crowded(): QuittanceError {
  return new QuittanceError('feed_crowded', `${mostReaders} readers wait here already`)
}

function createSubscription(end: () => void) {
  let hasGrown = false
  let resolve: (() => void) | undefined
  const wake = () => {
    hasGrown = true
    resolve?.()
  }
  const grown = async (signal: AbortSignal) => {
    if (!hasGrown && !signal.aborted) {
      const woken = Promise.withResolvers<void>()
      resolve = woken.resolve
      signal.addEventListener('abort', resolve, { once: true })
      await woken.promise
      signal.removeEventListener('abort', resolve)
      resolve = undefined
    }
    hasGrown = false
  }
  return { wake, subscription: { grown, end } satisfies FeedSubscription }
}

/** Nobody listens on the embedded database: it forwards no notifications. */
function listenWhileWatched(database: Database, onNotify: () => void, log: Log) {
  let stop: (() => Promise<void>) | undefined
  let resting: NodeJS.Timeout | undefined
  const end = async () => {
    clearTimeout(resting)
    const stopping = stop?.()
    stop = undefined
    await stopping
  }
  return {
    begin() {
      clearTimeout(resting)
      if (database.kind === 'embedded') return
      stop ??= listenOn(database, onNotify, {
        channel: feedChannel,
        applicationName: 'quittance feed',
        log,
        reconnectAfter: seconds(1),
      })
    },
    rest() {
      clearTimeout(resting)
      resting = setTimeout(() => void end(), listeningKept).unref()
    },
    end,
  }
}
