import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { newUuid } from '../kernel/ids.ts'
import { nameRequest, requestIdHeader } from './request-id.ts'
import { badRequest, safeHeaders } from './respond.ts'
import { message, type Answer } from '../intake/responses.ts'

const timedOut = message(408, 'request timeout')
const headersTooLarge = message(431, 'request headers too large')
const expectationFailed = message(417, 'expectation failed')

/** Headers that one request may have. */
export const headerLimit = 100

/**
 * How long a faulty sender may go on before it is cut off: cut off at once, it would lose our
 * answer.
 */
const lingerMs = 500

/**
 * If a whole request is followed by something unreadable, the request keeps its answer and the
 * connection ends: a second answer would be taken for the first.
 */
export function endBehind(outgoing: ServerResponse, socket: Duplex): void {
  if (ending.has(outgoing)) return
  ending.add(outgoing)
  if (!outgoing.headersSent) outgoing.setHeader('connection', 'close')
  outgoing.once('finish', () => {
    socket.end()
    setTimeout(() => socket.destroy(), lingerMs).unref()
  })
}

/** The parser reports one fault again with everything that comes after it. */
const ending = new WeakSet<ServerResponse>()

/** What the parser refuses never becomes a request; it is answered on the bare connection. */
export function answerParserFault(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  socket.end(onTheWire(answerFor(error.code)))
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

/** Faults that the parser accepts. */
export function faultOf(incoming: IncomingMessage): Answer | undefined {
  const { rawHeaders, httpVersionMajor } = incoming
  // HTTP/0.9 has no status line: it would take our headers for the document.
  if (httpVersionMajor !== 1) return badRequest
  if (rawHeaders.length > headerLimit * 2) return headersTooLarge
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  // Two hosts are a smuggling attempt: a proxy in front may have believed the other one.
  return hosts > 1 ? badRequest : undefined
}

export function answerExpectation(incoming: IncomingMessage, outgoing: ServerResponse): void {
  nameRequest(incoming, outgoing)
  answerPlainly(outgoing, expectationFailed)
}

/** Answers below the app, and ends the connection: anything may follow on it. */
export function answerPlainly(outgoing: ServerResponse, answer: Answer): void {
  outgoing.writeHead(answer.status, closingHeaders(answer))
  outgoing.end(answer.body)
}

function answerFor(code: string | undefined): Answer {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return timedOut
  return code === 'HPE_HEADER_OVERFLOW' ? headersTooLarge : badRequest
}

const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

function closingHeaders(answer: Answer) {
  return {
    ...answer.headers,
    ...safeHeaders,
    connection: 'close',
    'content-length': String(Buffer.byteLength(answer.body)),
  }
}

function onTheWire(answer: Answer): string {
  const headers = { ...closingHeaders(answer), [requestIdHeader]: newUuid() }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = `HTTP/1.1 ${answer.status} ${phrases[answer.status] ?? ''}\r\n`
  return `${status}${lines.join('')}\r\n${answer.body}`
}
