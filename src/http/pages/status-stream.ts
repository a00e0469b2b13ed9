import type { Context } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import { message } from '../../intake/responses.ts'
import { type Duration, seconds } from '../../kernel/duration.ts'
import type { Log } from '../../kernel/log.ts'
import type { PaymentStatus } from '../../payments/payment.ts'
import { eventStreamHeaders } from '../event-stream-headers.ts'
import { notFound, respond } from '../respond.ts'
import { senderAddress } from '../sender-address.ts'
import type { PageContext, StreamLimits } from './page-context.ts'

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

/** A stream that is open, or about to be. */
interface Place {
  /** False if the payment has as many streams as it may. */
  watch(paymentId: string): boolean
  leave(): void
}

/** Who may follow a payment: nobody can take all the streams from everybody else. */
interface StreamPlaces {
  /** Undefined if there are too many, in all or from this address; an empty address is unknown. */
  enter(address: string): Place | undefined
}

function streamPlaces({ streams, perAddress, perPayment }: StreamLimits): StreamPlaces {
  const crowdedFrom = Math.floor((streams * 3) / 4)
  const addresses = counts()
  const payments = counts()
  let open = 0
  return {
    enter(address) {
      const hasMany = address !== '' && addresses.of(address) >= perAddress
      if (open >= streams || (open >= crowdedFrom && hasMany)) return undefined
      open += 1
      addresses.add(address, 1)
      let watched: string | undefined
      return {
        watch(paymentId) {
          if (payments.of(paymentId) >= perPayment) return false
          payments.add(paymentId, 1)
          watched = paymentId
          return true
        },
        leave() {
          open -= 1
          addresses.add(address, -1)
          if (watched !== undefined) payments.add(watched, -1)
        },
      }
    },
  }
}

function counts() {
  const known = new Map<string, number>()
  const of = (name: string) => known.get(name) ?? 0
  return {
    of,
    add(name: string, change: 1 | -1) {
      const count = of(name) + change
      if (count > 0) known.set(name, count)
      else known.delete(name)
    },
  }
}

/** Watches the status of many payments at once. */
interface StatusWatcher {
  /**
   * Calls back whenever the status changes; with `lost` if it cannot be read, and then the watch is
   * over. Returns a function that ends the watch.
   */
  watch(
    paymentId: string,
    from: PaymentStatus,
    tell: (status: PaymentStatus | 'lost') => void,
  ): () => void
}

/** The statuses of payments; unknown ones are left out. */
type LookUp = (ids: ReadonlySet<string>) => Promise<ReadonlyMap<string, PaymentStatus>>

interface Watch {
  readonly paymentId: string
  last: PaymentStatus
  readonly tell: (status: PaymentStatus | 'lost') => void
}

/** One round of queries serves all watches; the next begins `every` after it has ended. */
export function statusWatcher(
  lookUp: LookUp,
  { every, log }: { readonly every: Duration; readonly log: Log },
): StatusWatcher {
  const watches = new Set<Watch>()
  let isRunning = false
  const schedule = () => {
    isRunning = watches.size > 0
    if (isRunning) setTimeout(() => void round(), every).unref()
  }
  const round = async () => {
    await look(watches, lookUp, log)
    schedule()
  }
  return {
    watch(paymentId, from, tell) {
      const watch = { paymentId, last: from, tell }
      watches.add(watch)
      if (!isRunning) schedule()
      return () => watches.delete(watch)
    },
  }
}

async function look(watches: Set<Watch>, lookUp: LookUp, log: Log): Promise<void> {
  if (watches.size === 0) return
  try {
    const statuses = await lookUp(new Set([...watches].map(({ paymentId }) => paymentId)))
    for (const watch of watches) {
      const status = statuses.get(watch.paymentId)
      if (status === undefined || status === watch.last) continue
      watch.last = status
      watch.tell(status)
    }
  } catch (error) {
    log.warn({ err: error }, 'the pages of waiting payers look for themselves')
    for (const { tell } of watches) tell('lost')
    watches.clear()
  }
}
