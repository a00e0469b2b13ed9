import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Context, MiddlewareHandler } from 'hono'
import { newUuid } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { internalError, respond } from './respond.ts'

/** In a request of a client or a proxy, and in every answer. */
export const requestIdHeader = 'x-request-id'

/** Harmless wherever it is repeated: in a header, a log, a page, a shell. */
const harmless = /^[\w.-]{1,64}$/

/** The one that the request came with, or a new one. */
function requestIdFrom(sent: unknown): string {
  return typeof sent === 'string' && harmless.test(sent) ? sent : newUuid()
}

/** On `node:http`, where not every request gets as far as the app. Named before, it stays so. */
export function nameRequest(incoming: IncomingMessage, outgoing: ServerResponse): string {
  const named = outgoing.getHeader(requestIdHeader)
  const id = requestIdFrom(named ?? incoming.headers[requestIdHeader])
  outgoing.setHeader(requestIdHeader, id)
  return id
}

const mark = 'quittance:request-id'

/** Of the request that is answered: a server, or an app around ours, may have named it already. */
export function requestIdOf(c: Context): string {
  const known: unknown = c.get(mark)
  if (typeof known === 'string') return known
  const named = nodeResponse(c)?.getHeader(requestIdHeader)
  const id = requestIdFrom(named ?? c.req.header(requestIdHeader))
  c.set(mark, id)
  return id
}

function nodeResponse(c: Context): ServerResponse | undefined {
  const environment: unknown = c.env
  if (typeof environment !== 'object' || environment === null) return undefined
  const outgoing = 'outgoing' in environment ? environment.outgoing : undefined
  return outgoing instanceof ServerResponse ? outgoing : undefined
}

/** Names every answer of an app, also where something is thrown that is no Error. */
export function namingRequests(log: Log): MiddlewareHandler {
  return async (c, next) => {
    const requestId = requestIdOf(c)
    try {
      await next()
    } catch (error) {
      // Of an Error, Hono has made an answer by now; all else it passes on.
      log.error({ err: error, requestId }, 'a request failed unexpectedly')
      c.res = respond(internalError(requestId))
    }
    try {
      c.res.headers.set(requestIdHeader, requestId)
    } catch {
      // The headers of a fetched answer cannot be changed: Hono copies the answer.
      c.header(requestIdHeader, requestId)
    }
  }
}
