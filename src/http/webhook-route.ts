import type { Context, MiddlewareHandler, Next } from 'hono'
import { every } from 'hono/combine'
import { HTTPException } from 'hono/http-exception'
import type { BillingCore } from '../billing/types.ts'
import {
  type Answer,
  bodyTooLarge,
  methodNotAllowed,
  unknownGateway,
  unsupportedEncoding,
  wrongAddress,
} from '../intake/responses.ts'
import { assertNever } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import { headersOf as headersOfNode } from './node-headers.ts'
import { type ReadFrom, nodeRequest, readBody } from './read-body.ts'
import { requestIdOf } from './request-id.ts'
import { badRequest, bodyCutShort, internalError, respond } from './respond.ts'
import { remoteAddress } from './sender-address.ts'
import { gatewayInPath, gatewayNearPath, isBadlyEscaped, queryOf } from './webhook-path.ts'

export interface WebhookRouteOptions {
  readonly maxBodyBytes: number
  /** Runs for this route alone, after the method check. */
  readonly webhookMiddleware: readonly MiddlewareHandler[]
  readonly log: Log
  /** Our own paths, which a template as short as `/{gateway}` would cover. */
  readonly ownPaths: ReadonlySet<string>
}

/** The one route: method (405), gateway (404), encoding (415), limit (413), then the core. */
export function webhookRoute(core: BillingCore, options: WebhookRouteOptions): MiddlewareHandler {
  const gatewayOf = gatewayInPath(core.webhookPaths)
  const warned = new Set<string>()
  const nearOf = gatewayNearPath(core.webhookPaths)
  const { webhookMiddleware, ownPaths } = options
  return async (c, next) => {
    const { path } = c.req
    if (isBadlyEscaped(path, c.req.url)) return respond(badRequest)
    const gateway = ownPaths.has(path) ? undefined : gatewayOf(path)
    if (gateway === undefined || core.gatewayName(gateway) === undefined) {
      const near = c.req.method === 'POST' ? nearOf(path) : undefined
      const name = near === undefined ? undefined : core.gatewayName(near)
      if (name !== undefined) {
        // One line each: anybody may send any number.
        if (!warned.has(name)) warnOfAddress({ core, gateway: name, options })
        warned.add(name)
        return refuseAddress(c, { core, gateway: name, options })
      }
      if (gateway === undefined) return next()
    }
    if (c.req.method !== 'POST') return respond(methodNotAllowed)
    const receive = () => receiveCall(c, { core, gateway, options })
    if (webhookMiddleware.length === 0) return receive()
    const behind = behindMiddleware(webhookMiddleware, receive)
    // A 404 of the user's says nothing of the address.
    return behind(c, next, (status) => core.answered(gateway, status === 404 ? 0 : status))
  }
}

/** What the user's middleware answers by itself is counted, whether returned or thrown. */
function behindMiddleware(
  middleware: readonly MiddlewareHandler[],
  receive: () => Promise<Response>,
) {
  return async (c: Context, next: Next, count: (status: number) => void) => {
    let isReceived = false
    const last = () => {
      isReceived = true
      return receive()
    }
    try {
      const response = await every(...middleware, last)(c, next)
      if (!isReceived) count((response ?? c.res).status)
      return response
    } catch (error) {
      if (!isReceived && error instanceof HTTPException) count(error.status)
      throw error
    }
  }
}

interface Addressed {
  readonly core: BillingCore
  readonly gateway: string
  readonly options: WebhookRouteOptions
}

function warnOfAddress({ core, gateway, options }: Addressed): void {
  const address = core.url('billing.webhook', { gateway })
  options.log.warn(
    { gateway, address },
    'a callback came to a misspelt address: give the provider this one',
  )
}

/** A callback URL that somebody misspelt: nothing is taken there, but it is seen that it was sent. */
function refuseAddress(c: Context, { core, gateway }: Addressed): Response {
  core.answered(gateway, wrongAddress.status, {
    headers: headersOf(c),
    sender: { remoteAddress: remoteAddress(c) },
  })
  return respond(wrongAddress)
}

async function receiveCall(c: Context, to: Addressed): Promise<Response> {
  const { core, gateway, options } = to
  const headers = headersOf(c)
  const requestId = requestIdOf(c)
  const sender = { remoteAddress: remoteAddress(c) }
  const answer = (given: Answer) => {
    core.answered(gateway, given.status, { headers, sender })
    return respond(given)
  }
  if (core.gatewayName(gateway) === undefined) return answer(unknownGateway)
  if (!isPlain(headers['content-encoding'])) return answer(unsupportedEncoding)
  const read = await readBody(
    c,
    Math.min(options.maxBodyBytes, core.maxBodyBytes(gateway) ?? Infinity),
  )
  switch (read.kind) {
    case 'read':
      break
    case 'too_large':
      return answer(bodyTooLarge)
    case 'cut_short':
      return respond(bodyCutShort)
    case 'consumed':
      options.log.error(
        { requestId },
        'the body of a callback was read before it got here, so its signature cannot be checked: ' +
          keepBodyUnread(c, read.from),
      )
      return respond(internalError(requestId))
    default:
      return assertNever(read)
  }
  const target = c.req.path + queryOf(c.req.url)
  const call = { gateway, target, headers, body: read.bytes, sender, requestId }
  return respond(await core.receive(call))
}

function isPlain(contentEncoding: string | undefined): boolean {
  if (contentEncoding === undefined || contentEncoding === '') return true
  return contentEncoding.toLowerCase() === 'identity'
}

function headersOf(c: Context): Record<string, string> {
  const incoming = nodeRequest(c)
  return incoming === undefined ? Object.fromEntries(c.req.raw.headers) : headersOfNode(incoming)
}

interface Host {
  /** How to recognise this host app. */
  readonly is: (c: Context, from: ReadFrom) => boolean
  readonly fix: string
}

const hosts: readonly Host[] = [
  {
    is: (c) => Object.keys(c.req.bodyCache).length > 0,
    fix: 'in webhook.middleware read the body by c.req.arrayBuffer(), which keeps the exact bytes',
  },
  {
    is: (c) => 'originalUrl' in (nodeRequest(c) ?? {}),
    fix:
      'move app.use(express.json()), or whichever parser it was, below the line that mounts ' +
      'Quittance',
  },
  {
    is: (c, from) => from === 'web' && nodeRequest(c) !== undefined,
    fix:
      'move the Hono middleware that reads the body (c.req.json() and the like) below the route ' +
      'that calls billing.fetch(c.req.raw, c.env)',
  },
  {
    is: (_c, from) => from === 'web',
    fix:
      'call billing.fetch(request) before request.json(), request.text() or a body parser of the ' +
      'framework',
  },
  {
    is: () => true,
    fix:
      'move the body parser after the place where Quittance is mounted; in Fastify mount it in a ' +
      "plugin of its own: scope.removeAllContentTypeParsers(), then scope.addContentTypeParser('*'" +
      ', (request, payload, done) => done(null))',
  },
]

/** Which line to move in an app that reads a callback's body before us. */
function keepBodyUnread(c: Context, from: ReadFrom): string {
  return hosts.find(({ is }) => is(c, from))?.fix ?? ''
}
