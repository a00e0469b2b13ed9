import type { Context } from 'hono'
import { streamSSE, type SSEStreamingApi } from 'hono/streaming'
import { message } from '../../intake/responses.ts'
import { seconds } from '../../kernel/duration.ts'
import type { PaymentStatus } from '../../payments/payment.ts'
import { eventStreamHeaders } from '../event-stream-headers.ts'
import { notFound, respond } from '../respond.ts'
import { senderAddress } from '../sender-address.ts'
import type { PageContext } from './page-context.ts'
import { streamPlaces, type Place } from './stream-places.ts'
import { statusWatcher, type LookUp, type StatusWatcher } from './status-watcher.ts'

const busy = message(503, 'too many streams', { 'retry-after': '10' })

/** A silent connection would be cut, by proxies and by our own server. */
const beatEvery = seconds(15)
const reconnectMs = 3_000

/**
 * `/billing/return/{payment}/status`: server-sent events named `status`, the current one first. It
 * ends when the payment is paid, or after a while; beyond a limit it is answered 503.
 */
export function statusStreams(context: PageContext): (c: Context) => Promise<Response> {
  const { core, log, limits, closing } = context
  const lookUp: LookUp = (ids) => core.payments.statuses([...ids])
  const watcher = statusWatcher(lookUp, { every: limits.lookEvery, log })
  const places = streamPlaces(limits)
  return async (c) => {
    const place = places.enter(senderAddress(c))
    if (place === undefined) return respond(busy)
    let isFollowed = false
    try {
      const found = await context.findCharge(c.req.param('payment') ?? '')
      if (found === undefined) return respond(notFound)
      if (c.req.method !== 'GET') return new Response(null, { headers: eventStreamHeaders })
      const { id, status } = found.payment
      if (!place.watch(id)) return respond(busy)
      isFollowed = true
      return follow(c, place, { id, status, watcher, lasts: limits.streamLasts, closing })
    } finally {
      if (!isFollowed) place.leave()
    }
  }
}

function follow(c: Context, place: Place, streamed: Streamed): Response {
  const response = streamSSE(c, async (stream) => {
    try {
      await sendUntilOver(stream, streamed)
    } finally {
      place.leave()
    }
  })
  // How it is transferred is up to the server: HTTP/2 has neither header.
  for (const name of ['transfer-encoding', 'connection']) response.headers.delete(name)
  for (const [name, value] of Object.entries(eventStreamHeaders)) response.headers.set(name, value)
  return response
}

interface Streamed {
  readonly id: string
  readonly status: PaymentStatus
  readonly watcher: StatusWatcher
  readonly lasts: number
  readonly closing: AbortSignal | undefined
}

/** Does not wait for writes: a browser that does not read must not keep its place. */
async function sendUntilOver(stream: SSEStreamingApi, streamed: Streamed): Promise<void> {
  const over = Promise.withResolvers<void>()
  const send = (status: PaymentStatus | 'lost') => {
    if (status === 'lost') return over.resolve()
    const written = stream.writeSSE({ event: 'status', data: status })
    if (status === 'paid') void written.finally(over.resolve)
  }
  stream.onAbort(() => over.resolve())
  const close = () => over.resolve()
  streamed.closing?.addEventListener('abort', close)
  if (streamed.closing?.aborted === true) close()
  void stream.write(`retry: ${reconnectMs}\n`)
  send(streamed.status)
  const unwatch = streamed.watcher.watch(streamed.id, streamed.status, send)
  const beat = setInterval(() => void stream.write(':\n\n'), beatEvery)
  const end = setTimeout(() => over.resolve(), streamed.lasts)
  await over.promise
  streamed.closing?.removeEventListener('abort', close)
  clearInterval(beat)
  clearTimeout(end)
  unwatch()
}
