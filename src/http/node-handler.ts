import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, RequestError } from '@hono/node-server'
import { checkoutPath } from './app.ts'
import { pathIn, type MountedPaths } from './mounted-paths.ts'
import { badRequest, internalError, respond } from './respond.ts'
import { gatewayNearPath } from './webhook-path.ts'

export type { MountedPaths } from './mounted-paths.ts'

/** The part of a `Billing` that is mounted. */
export interface Mountable extends MountedPaths {
  /** Whether there is a gateway of a name; without it, no misspelt callback URL is taken. */
  gatewayName?(name: string): string | undefined
  fetch(request: Request, env?: unknown): Promise<Response>
}

/** What has a path of its own: the console of an app. */
export interface MountableAtPath {
  readonly path: string
  fetch(request: Request, env?: unknown): Promise<Response>
}

/** A handler for `node:http`, and middleware for frameworks with `next`, such as Express. */
export type NodeHandler = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/**
 * Mounts a billing, or its console, in an app on Node: `createServer(nodeHandler(billing))`, or
 * `app.use(nodeHandler(billing))` above every body parser. Given a `next`, it takes the webhook
 * route, the pages that payers see and the management API, if it is on, or all that is below the
 * path of the console, and passes everything else on, unread; without one it answers everything that
 * `fetch` does. Below a prefix, the path as sent counts, or else what is left of it.
 */
export function nodeHandler(mounted: Mountable | MountableAtPath): NodeHandler {
  const isOurPath = 'path' in mounted ? belowPath(mounted) : pathsOf(mounted)
  const isOurs = (url: string, method = '') => isOurPath(pathOf(url), method)
  const listener = getRequestListener((request, env) => mounted.fetch(request, env), {
    // Request and Response of the host app stay what they are.
    overrideGlobalObjects: false,
    // HTTP/1.0 may come without a host; nothing stored is built from it.
    hostname: 'localhost',
    errorHandler: (error) => respond(error instanceof RequestError ? badRequest : internalError()),
  })
  return (incoming, outgoing, next) => {
    const url = urlsOf(incoming).find((one) => isOurs(one, incoming.method))
    if (url === undefined && next !== undefined) {
      next()
      return
    }
    if (url !== undefined) incoming.url = url
    keepRawBody(incoming)
    listener(incoming, outgoing).catch(() => outgoing.destroy())
  }
}

function pathsOf(billing: Mountable): (path: string, method: string) => boolean {
  const ownPath = pathIn(billing, checkoutPath)
  const gatewayNear = gatewayNearPath(billing.webhookPaths)
  return (sent, method) => {
    const path = decoded(sent)
    if (ownPath(path) !== undefined) return true
    // Callbacks are posted: a page of the host app may be called so.
    if (method !== 'POST') return false
    const near = gatewayNear(path)
    return near !== undefined && billing.gatewayName?.(near) !== undefined
  }
}

/** As it was sent: a guard of the app above takes no escape in a path for its letter, either. */
function belowPath({ path: own }: MountableAtPath): (path: string) => boolean {
  return (path) => path === own || path.startsWith(`${own}/`)
}

/** `express.raw()` keeps the exact bytes as the body: they are as good as the stream. */
function keepRawBody(incoming: IncomingMessage): void {
  const body = 'body' in incoming ? incoming.body : undefined
  if (body instanceof Uint8Array && !('rawBody' in incoming)) {
    Object.assign(incoming, { rawBody: body })
  }
}

/** Below a prefix, Express cuts the URL and keeps the one that was sent. */
function urlsOf(incoming: IncomingMessage): readonly string[] {
  const { url = '' } = incoming
  const sent = 'originalUrl' in incoming ? incoming.originalUrl : undefined
  return typeof sent === 'string' ? [sent, url] : [url]
}

function pathOf(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1)
  return path
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
