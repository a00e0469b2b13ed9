import { type HttpBindings, RequestError, getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { httpSettings } from '../billing/http-settings.ts'
import { type Duration, seconds } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import {
  type ConnectionLimits,
  type LimitedConnections,
  limitConnections,
} from './limit-connections.ts'
import type { PlainCallbacks } from './plain-callbacks.ts'
import { nameRequest } from './request-id.ts'
import { badRequest, internalError, respond } from './respond.ts'
import {
  answerExpectation,
  answerParserFault,
  answerPlainly,
  endBehind,
  faultOf,
  headerLimit,
} from './transport-faults.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  readonly log: Log
  /** How messages name the settings of the address: `PORT` and `HOST`, if left out. */
  readonly settings?: { readonly port: string; readonly host: string }
  /** Open connections at most; above them idle ones are closed, or new ones refused. */
  readonly maxConnections?: number | undefined
  /** For one address, once three quarters of them are open. */
  readonly connectionsPerAddress?: number | undefined
  /** How long a connection may stay open between two requests. */
  readonly keepAlive?: Duration | undefined
  /** How long a sender may pause within a request, or leave its answer unread. Default 30 s. */
  readonly silence?: Duration | undefined
  /** How long a request may take to come. */
  readonly arrival?: Arrival
  /** Answers plain callbacks, before the app sees them. */
  readonly plain?: PlainCallbacks | undefined
}

export interface HttpServer {
  /** Where it can be reached from this machine. */
  readonly url: string
  readonly port: number
  /**
   * Takes no more connections, answers what is under way for at most `graceMs`, then cuts off the
   * rest.
   */
  close(graceMs: number): Promise<void>
}

const { maxConnections, connectionsPerAddress, keepAliveSeconds } = httpSettings
const defaultSilence = seconds(30)
const drainPollMs = 20

/** What comes more slowly is answered 408. */
export interface Arrival {
  /** From the connection, or the end of the request before it. */
  readonly headersTimeout: Duration
  /** With its body. */
  readonly requestTimeout: Duration
  /** Between two looks at all that are late. */
  readonly connectionsCheckingInterval: Duration
}

export const usualArrival: Arrival = {
  headersTimeout: seconds(4),
  requestTimeout: seconds(8),
  connectionsCheckingInterval: 500,
}

const serverOptions = {
  maxHeaderSize: 16 * 1024,
  requireHostHeader: true,
  insecureHTTPParser: false,
} as const

/** Serves the app on a hardened Node server. Errors: `setting_invalid` if it cannot listen. */
export async function listen(app: Hono, options: ListenOptions): Promise<HttpServer> {
  const server = createServer({ ...serverOptions, ...(options.arrival ?? usualArrival) })
  server.keepAliveTimeout = options.keepAlive ?? seconds(keepAliveSeconds.default)
  server.timeout = options.silence ?? defaultSilence
  server.maxHeadersCount = headerLimit + 1
  server.maxRequestsPerSocket = 1_000
  const connections = limitConnections(server, { limits: limitsOf(options), log: options.log })
  const traffic = { underWay: 0, closing: false, connections }
  const listener = requestListener(app, traffic, options)
  server.on('request', listener)
  server.on('checkContinue', (incoming, outgoing) => {
    continueOnceRead(incoming, outgoing)
    listener(incoming, outgoing)
  })
  server.on('timeout', (socket) => {
    if (!connections.isWaitingForUs(socket)) socket.destroy()
  })
  server.on('clientError', (error, socket) => {
    const due = connections.answerDue(socket)
    if (due !== undefined && socket.writable) endBehind(due, socket)
    else if (connections.isBeingAnswered(socket)) socket.destroy()
    else answerParserFault(error, socket)
  })
  server.on('checkExpectation', answerExpectation)
  const { port } = await bind(server, options)
  server.on('error', (error) => options.log.error({ err: error }, 'the HTTP server failed'))
  return {
    port,
    url: `http://${reachable(options.host)}:${port}`,
    close: (graceMs) => close(server, traffic, graceMs),
  }
}

function limitsOf(options: ListenOptions): ConnectionLimits {
  return {
    most: options.maxConnections ?? maxConnections.default,
    perAddress: options.connectionsPerAddress ?? connectionsPerAddress.default,
  }
}

interface Traffic {
  underWay: number
  closing: boolean
  readonly connections: LimitedConnections
}

function requestListener(
  app: Hono,
  traffic: Traffic,
  { log, plain = () => false }: ListenOptions,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const isLeaving = () => traffic.closing || traffic.connections.isCrowded
  const listener = getRequestListener(
    async (request, env) => {
      const { incoming, outgoing } = env as HttpBindings
      const response = await answerOf(
        () => app.fetch(request, env),
        (error) => {
          const requestId = nameRequest(incoming, outgoing)
          log.error({ err: error, requestId }, 'a request failed unexpectedly')
          return respond(internalError(requestId))
        },
      )
      const isLast = isLeaving() || isAwaitingContinue(incoming)
      if (isLast && !outgoing.headersSent) outgoing.setHeader('connection', 'close')
      return response
    },
    {
      // HTTP/1.0 may come without a host; nothing stored is built from it.
      hostname: 'localhost',
      errorHandler: (error) => {
        if (error instanceof RequestError) return respond(badRequest)
        log.error({ err: error }, 'a request failed unexpectedly')
        return respond(internalError())
      },
    },
  )
  return (incoming, outgoing) => {
    const requestId = nameRequest(incoming, outgoing)
    if (!traffic.connections.begin(incoming, outgoing)) return
    const fault = faultOf(incoming)
    if (fault !== undefined) {
      answerPlainly(outgoing, fault)
      return
    }
    traffic.underWay += 1
    outgoing.once('close', () => {
      traffic.underWay -= 1
    })
    if (plain(incoming, outgoing, isLeaving)) return
    listener(incoming, outgoing).catch((error: unknown) => {
      log.error({ err: error, requestId }, 'an answer could not be sent')
      outgoing.destroy()
    })
  }
}

async function answerOf(
  answer: () => Response | Promise<Response>,
  onFailure: (error: unknown) => Response,
): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof RequestError) throw error
    return onFailure(error)
  }
}

async function bind(server: Server, options: ListenOptions): Promise<AddressInfo> {
  const { host, port } = options
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, options)))
    server.listen({ host, port }, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was opened')
  return address
}

function cannotListen(
  error: NodeJS.ErrnoException,
  { host, port, settings = { port: 'PORT', host: 'HOST' } }: ListenOptions,
): QuittanceError {
  const [what, fix] =
    error.code === 'EADDRINUSE'
      ? [`port ${port} is in use`, `Set ${settings.port} to a free port.`]
      : error.code === 'EACCES'
        ? [`port ${port} needs more rights`, `Set ${settings.port} to a port above 1023.`]
        : [
            `cannot listen on ${host}: ${error.code ?? error.message}`,
            `Set ${settings.host} to an address of this machine, such as 127.0.0.1.`,
          ]
  return new QuittanceError('setting_invalid', what, { cause: error, fix })
}

/** An address to connect to: the ones that mean "every address" only work for listening. */
function reachable(host: string): string {
  if (host === '' || host === '0.0.0.0' || host === '::') return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}

async function close(server: Server, traffic: Traffic, graceMs: number): Promise<void> {
  traffic.closing = true
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  const deadline = performance.now() + graceMs
  while (traffic.underWay > 0 && performance.now() < deadline) {
    server.closeIdleConnections()
    await delay(drainPollMs)
  }
  // What is left: connections that never sent a whole request, and what outlived the grace period.
  server.closeAllConnections()
  await closed
  traffic.connections.end()
}

const unread = new WeakSet<IncomingMessage>()

/**
 * For `Expect: 100-continue`: the sender may continue when something begins to read the
 * body. If the request is refused for its head, the body was never asked for.
 */
function continueOnceRead(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const read = incoming.read.bind(incoming)
  unread.add(incoming)
  incoming.read = (size?: number): unknown => {
    incoming.read = read
    unread.delete(incoming)
    if (!outgoing.headersSent) outgoing.writeContinue()
    return read(size)
  }
}

/** The sender was not asked to continue: whether the body follows all the same is unknown. */
function isAwaitingContinue(incoming: IncomingMessage): boolean {
  return unread.has(incoming)
}
