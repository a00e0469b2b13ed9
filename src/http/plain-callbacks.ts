import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BillingCore } from '../billing/types.ts'
import type { Answer } from '../intake/responses.ts'
import { headersOf } from './node-headers.ts'
import { grown } from './read-body.ts'
import { nameRequest } from './request-id.ts'
import { internalError, safeHeaders } from './respond.ts'
import { gatewayInPath } from './webhook-path.ts'
import type { WebhookRouteOptions } from './webhook-route.ts'

/**
 * Answers plain callbacks on `node:http` itself, which is almost all of them: POST to the path of a
 * gateway, written as it is configured, with a body of an announced length within the limit.
 * Everything else is for the app. Returns false for what it leaves alone, unread.
 */
export type PlainCallbacks = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  /** Whether the connection ends with the answer, once there is one. */
  isLast: () => boolean,
) => boolean

/** Middleware of the user's sees every callback: then none is plain. */
export function plainCallbacks(
  core: Pick<BillingCore, 'webhookPaths' | 'gatewayName' | 'maxBodyBytes' | 'receive'>,
  { maxBodyBytes, webhookMiddleware, ownPaths, log }: WebhookRouteOptions,
): PlainCallbacks {
  if (webhookMiddleware.length > 0) return () => false
  const gatewayOf = gatewayInPath(core.webhookPaths)
  return (incoming, outgoing, isLast) => {
    const target = incoming.url ?? ''
    const path = pathOf(target)
    const gateway = isPlain(incoming) && !ownPaths.has(path) ? gatewayOf(path) : undefined
    if (gateway === undefined || core.gatewayName(gateway) === undefined) return false
    const length = announcedLength(incoming)
    const limit = Math.min(maxBodyBytes, core.maxBodyBytes(gateway) ?? Infinity)
    if (length === undefined || length > limit) return false
    const requestId = nameRequest(incoming, outgoing)
    const answer = async () => {
      const body = await readBody(incoming)
      if (body === undefined) return
      const headers = headersOf(incoming)
      const received = await core.receive({
        gateway,
        target,
        headers,
        body,
        sender: incoming.socket,
        requestId,
      })
      if (isLast()) outgoing.setHeader('connection', 'close')
      send(outgoing, received)
    }
    void answer().catch((error: unknown) => {
      log.error({ err: error, requestId }, 'a request failed unexpectedly')
      if (!outgoing.headersSent) send(outgoing, internalError(requestId))
    })
    return true
  }
}

function pathOf(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

const plainTarget = /^(?:\/[\w-]+)+(?:\?[\w.~%!$&()*+,;=:@/?-]*)?$/
const plainHost = /^[a-z0-9._-]+(?::(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}))?$/

/** Nothing that could be read in two ways: an escape in the path, a host in front, a way up. */
function isPlain({ url = '', headers: { host } }: IncomingMessage): boolean {
  return plainTarget.test(url) && host !== undefined && plainHost.test(host)
}

const digits = /^\d{1,10}$/
/** A request with one of these asks for more than to be read. */
const oddHeaders = ['transfer-encoding', 'content-encoding', 'expect', 'upgrade'] as const

/** Of a plain request; undefined for any other. */
function announcedLength({ method, headers }: IncomingMessage): number | undefined {
  const { 'content-length': length = '' } = headers
  if (method !== 'POST' || !digits.test(length)) return undefined
  return oddHeaders.some((name) => headers[name] !== undefined) ? undefined : Number(length)
}

/** The parser delivers exactly as many bytes as were announced. Undefined if the sender left. */
function readBody(incoming: IncomingMessage): Promise<Uint8Array | undefined> {
  return new Promise((read) => {
    let bytes = new Uint8Array()
    let length = 0
    incoming.on('data', (chunk: Buffer<ArrayBuffer>) => {
      if (length === 0) bytes = chunk
      else {
        bytes = grown(bytes, length + chunk.length)
        bytes.set(chunk, length)
      }
      length += chunk.length
    })
    incoming.once('end', () => read(bytes.subarray(0, length)))
    incoming.once('close', () => read(undefined))
  })
}

function send(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  const length = String(Buffer.byteLength(body))
  outgoing.writeHead(status, { ...headers, ...safeHeaders, 'content-length': length }).end(body)
}
