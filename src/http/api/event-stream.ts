import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import type { FeedQuery, FeedResult } from '../../billing/event-types.ts'
import { minutes, seconds } from '../../kernel/duration.ts'
import type { Log } from '../../kernel/log.ts'
import { within } from '../../kernel/within.ts'
import { eventStreamHeaders } from '../event-stream-headers.ts'

/** Whoever takes nothing for so long is cut off: it may come again. */
const takesWithin = seconds(30)
/** A silent connection would be cut, by proxies and by our own server. */
const beatEvery = seconds(15)
/** Then a reader comes again: it may be to another process. */
const streamLasts = minutes(15)
const reconnectMs = 1_000

interface Streamed {
  read(how: Pick<FeedQuery, 'wait' | 'signal'>): AsyncIterable<FeedResult>
  readonly closing: AbortSignal | undefined
  readonly log: Log
}

/**
 * The feed as server-sent events. What keeps it from beginning is thrown, before anything is sent.
 * As fast as it is read: the next page is looked up when the one before has been taken.
 */
export async function streamEvents(c: Context, streamed: Streamed): Promise<Response> {
  const { read, closing, log } = streamed
  const ends = [c.req.raw.signal, AbortSignal.timeout(streamLasts), ...(closing ? [closing] : [])]
  const gone = new AbortController()
  const signal = AbortSignal.any([...ends, gone.signal])
  const pages = read({ wait: beatEvery, signal })[Symbol.asyncIterator]()
  const first = await pages.next()
  if (c.req.method !== 'GET') {
    gone.abort()
    await pages.return?.()
    return new Response(null, { headers: eventStreamHeaders })
  }
  const response = streamSSE(c, async (stream) => {
    stream.onAbort(() => gone.abort())
    try {
      const write = (text: string) => taken(stream.write(text), signal)
      await write(`retry: ${reconnectMs}\n\n`)
      let known: string | undefined
      for (let page = first; page.done !== true; page = await pages.next()) {
        known = await sendPage(write, page.value, known)
      }
    } catch (error) {
      // Its reader comes again, and then learns why.
      if (!signal.aborted) log.warn({ err: error }, 'a stream of events ended early')
    } finally {
      await pages.return?.()
    }
  })
  // How it is transferred is up to the server: HTTP/2 has neither header.
  for (const name of ['transfer-encoding', 'connection']) response.headers.delete(name)
  for (const [name, value] of Object.entries(eventStreamHeaders)) response.headers.set(name, value)
  return response
}

/** Ends when the reader has taken what was written; throws if it is gone, or takes nothing. */
async function taken(writing: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const late = () => new Error(`a reader took nothing for ${takesWithin / 1000} s`)
  const over = Promise.withResolvers<never>()
  const end = () => over.reject(new Error('the stream is over'))
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  try {
    await within(takesWithin, late, () => Promise.race([writing, over.promise]))
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** Returns the cursor that the reader has by then. */
async function sendPage(
  write: (text: string) => Promise<void>,
  { data, nextCursor }: FeedResult,
  known: string | undefined,
): Promise<string> {
  for (const event of data) {
    await write(`data: ${JSON.stringify(event)}\nid: ${event.id}\n\n`)
  }
  const last = data.at(-1)?.id ?? known
  // Looked at and not wanted: a reader that comes again need not have them looked at once more.
  if (last !== nextCursor) await write(`id: ${nextCursor}\n\n`)
  else if (data.length === 0) await write(':\n\n')
  return nextCursor
}
