import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIPv6, type AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { getRequestListener, RequestError, type HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import { seconds } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import { badRequest, internalError, respond } from './respond.ts'
import {
  answerExpectation,
  answerParserFault,
  answerPlainly,
  faultOf,
  headerLimit,
} from './transport-faults.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  readonly log: Log
  /** Open connections at most; further ones are dropped. Default 1,000. */
  readonly maxConnections?: number
}

export interface Listening {
  /** Where it can be reached from this machine. */
  readonly url: string
  readonly port: number
  /** Takes no further connections, answers what is under way for at most `graceMs`, then cuts. */
  close(graceMs: number): Promise<void>
}

const defaultMaxConnections = 1_000
const drainPollMs = 20

const serverOptions = {
  headersTimeout: seconds(4),
  requestTimeout: seconds(8),
  connectionsCheckingInterval: 500,
  keepAliveTimeout: seconds(5),
  maxHeaderSize: 16 * 1024,
  requireHostHeader: true,
  insecureHTTPParser: false,
} as const

/** Longer than a callback may take under the `sync` queue; it ends senders that never read. */
const silentSocketMs = seconds(30)

/** Serves the app on a hardened node server. Errors: `setting_invalid` where it cannot listen. */
export async function listen(app: Hono, options: ListenOptions): Promise<Listening> {
  const traffic = { underWay: 0, closing: false }
  const server = createServer(serverOptions, requestListener(app, traffic, options.log))
  server.timeout = silentSocketMs
  server.maxHeadersCount = headerLimit + 1
  server.maxRequestsPerSocket = 1_000
  server.maxConnections = options.maxConnections ?? defaultMaxConnections
  server.on('clientError', answerParserFault)
  server.on('checkExpectation', answerExpectation)
  const { port } = await bind(server, options)
  server.on('error', (error) => options.log.error({ err: error }, 'the HTTP server failed'))
  return {
    port,
    url: `http://${reachable(options.host)}:${port}`,
    close: (graceMs) => close(server, traffic, graceMs),
  }
}

interface Traffic {
  underWay: number
  closing: boolean
}

function requestListener(
  app: Hono,
  traffic: Traffic,
  log: Log,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const listener = getRequestListener(
    async (request, env) => {
      const response = await app.fetch(request, env)
      const { outgoing } = env as HttpBindings
      if (traffic.closing && !outgoing.headersSent) outgoing.setHeader('connection', 'close')
      return response
    },
    {
      // HTTP/1.0 may come without a host; nothing that is stored is built from it.
      hostname: 'localhost',
      errorHandler: (error) => {
        if (error instanceof RequestError) return respond(badRequest)
        log.error({ err: error }, 'a request failed unexpectedly')
        return respond(internalError)
      },
    },
  )
  return (incoming, outgoing) => {
    const fault = faultOf(incoming)
    if (fault !== undefined) {
      answerPlainly(outgoing, fault)
      return
    }
    traffic.underWay += 1
    outgoing.once('close', () => {
      traffic.underWay -= 1
    })
    listener(incoming, outgoing).catch((error: unknown) => {
      log.error({ err: error }, 'an answer could not be sent')
      outgoing.destroy()
    })
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

function cannotListen(error: NodeJS.ErrnoException, { host, port }: ListenOptions): QuittanceError {
  const [what, fix] =
    error.code === 'EADDRINUSE'
      ? [`port ${port} is in use`, 'Set PORT to a free port.']
      : error.code === 'EACCES'
        ? [`port ${port} needs more rights`, 'Set PORT to a port above 1023.']
        : [
            `cannot listen on ${host}: ${error.code ?? error.message}`,
            'Set HOST to an address of this machine, such as 127.0.0.1.',
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
  // Left are connections that never sent a whole request, and what outlived the grace.
  server.closeAllConnections()
  await closed
}
