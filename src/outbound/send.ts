import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { systemClock } from '../kernel/clock.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { tlsCodes } from '../kernel/tls-codes.ts'
import { hostOf } from './address.ts'
import { refusedCode, type Connections } from './connect.ts'
import { retryAfterOf } from './schedule.ts'

/** What became of one request. */
export const sendResults = [
  'delivered',
  'gone',
  'overloaded',
  'redirected',
  'rejected',
  'timed_out',
  'not_connected',
  'name_unknown',
  'address_refused',
  'tls_failed',
  'reply_invalid',
] as const
/** What became of one request, in a word. */
export type SendResult = (typeof sendResults)[number]

/** What became of one request to an endpoint, and how long it took. */
export interface Sent {
  readonly result: SendResult
  /** Null: there was no answer. */
  readonly status: number | null
  readonly durationMs: number
  /** What a failing answer says, or why there is none; null: nothing. */
  readonly response: string | null
  /** Nothing is to be sent for so long. */
  readonly retryAfter: Duration | undefined
}

export interface OutgoingRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeout: Duration
  /** Blanks out known secrets in what is kept of an answer. */
  scrub(text: string): string
}

const connectWithin = seconds(5)
const notConnected = 'no connection within 5 s'
/** For the rest of an answer whose status says all. */
const restWithin = seconds(1)
/** Answers 1xx before the answer. */
const mostInformation = 10
/** Of an answer that is read at most. */
const mostRead = 16 * 1024
/** Of a failing answer that is kept. */
const mostKept = 1024
/** None that is set is longer. */
const longestSecret = 1024

/**
 * One request. Never rejects, never follows a redirect. Where its server had closed a connection that
 * was open from before, it is sent once more, at once, over one of its own: it was hardly seen, and if
 * it was, it comes again under the same id.
 */
export async function send(
  outgoing: OutgoingRequest,
  connections: Connections,
  signal: AbortSignal,
): Promise<Sent> {
  const begun = performance.now()
  const fault = connections.fault(outgoing.url)
  const answered =
    fault === undefined
      ? await attempt(outgoing, connections, signal)
      : failedBy('address_refused', `url ${fault}`)
  const { isCut: _, ...sent } = answered
  const response = keptOf(answered, outgoing)
  return { ...sent, response, durationMs: Math.round(performance.now() - begun) }
}

/** Cut last: half a secret would not be found. */
function keptOf({ response, isCut }: Answered, { scrub }: OutgoingRequest): string | null {
  if (response === null) return null
  const said = scrub(response).replaceAll('\0', '\u{fffd}')
  // Where reading ended, a secret may have been cut in two.
  const whole = isCut === true ? said.slice(0, -longestSecret) : said
  return whole === '' ? null : whole.slice(0, mostKept)
}

interface Answered extends Omit<Sent, 'durationMs'>, Partial<Pick<SomeText, 'isCut'>> {}

interface SomeText {
  /** All that was read. */
  readonly response: string | null
  /** There is more of it. */
  readonly isCut: boolean
}

async function attempt(
  outgoing: OutgoingRequest,
  connections: Connections,
  signal: AbortSignal,
): Promise<Answered> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(outgoing.timeout)])
  const first = await tryOnce({ ...outgoing, isFresh: false }, connections, over)
  if (first !== 'stale') return first
  const second = await tryOnce({ ...outgoing, isFresh: true }, connections, over)
  return second === 'stale' ? failedBy('not_connected', 'ECONNRESET') : second
}

interface Try extends OutgoingRequest {
  /** Over a connection that is open to nobody else. */
  readonly isFresh: boolean
}

async function tryOnce(
  one: Try,
  connections: Connections,
  over: AbortSignal,
): Promise<Answered | 'stale'> {
  let request: ClientRequest | undefined
  try {
    request = open(one, connections, over)
    return await answerOf(request, one)
  } catch (error) {
    const isReset = /^(?:ECONNRESET|EPIPE)$/.test(codeOf(error))
    if (isReset && request?.reusedSocket === true && !over.aborted) return 'stale'
    return failureOf(error, over)
  }
}

function open(
  { url: text, headers, body, isFresh }: Try,
  connections: Connections,
  signal: AbortSignal,
): ClientRequest {
  const url = new URL(text)
  const host = hostOf(url.hostname)
  const { request } = url.protocol === 'http:' ? http : https
  const opened = request(url, {
    method: 'POST',
    agent: connections.agentOf(url, isFresh),
    signal,
    maxHeaderSize: mostRead,
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'Quittance',
    },
    // Sent by name alone.
    ...(isIP(host) === 0 && url.protocol === 'https:' && { servername: host }),
  })
  limitConnecting(opened, url)
  limitInformation(opened)
  opened.end(body)
  return opened
}

function limitConnecting(request: ClientRequest, { protocol }: URL): void {
  const timer = setTimeout(() => {
    request.destroy(withCode('ETIMEDOUT', notConnected))
  }, connectWithin)
  const connected = () => clearTimeout(timer)
  request.once('close', connected)
  request.once('socket', (socket) => {
    if (request.reusedSocket) connected()
    else socket.once(protocol === 'http:' ? 'connect' : 'secureConnect', connected)
  })
}

/** Answers before the answer, such as 103, may come without end. */
function limitInformation(request: ClientRequest): void {
  let count = 0
  request.on('information', () => {
    count += 1
    if (count > mostInformation) {
      request.destroy(withCode('HPE_UNEXPECTED', 'it answers 1xx again and again'))
    }
  })
}

async function answerOf(request: ClientRequest, outgoing: OutgoingRequest): Promise<Answered> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    // It stays: an error may follow the answer.
    request.on('error', reject)
    // An answer that is none, such as another protocol, ends a request without an error.
    request.once('close', () => reject(withCode('HPE_UNEXPECTED', 'it closed without an answer')))
  })
  const { statusCode: status = 0, headers } = answer
  if (status >= 200 && status < 300) {
    readRest(answer)
    return { result: 'delivered', status, response: null, retryAfter: undefined }
  }
  const some = await readSome(answer)
  const retryAfter = retryAfterOf(status, headers['retry-after'], systemClock())
  if (status >= 300 && status < 400) {
    const origin = URL.parse(headers.location ?? '', outgoing.url)?.origin ?? 'nowhere'
    return { result: 'redirected', status, response: `to ${origin}`, retryAfter }
  }
  const result = status === 410 ? 'gone' : retryAfter === undefined ? 'rejected' : 'overloaded'
  return { result, status, ...some, retryAfter }
}

/** Nobody waits for the rest of it: read in time it frees the connection, else that is given up. */
function readRest(answer: IncomingMessage): void {
  let length = 0
  const giveUp = setTimeout(() => answer.destroy(), restWithin)
  answer.once('close', () => clearTimeout(giveUp))
  answer.on('error', () => {})
  answer.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > mostRead) answer.destroy()
  })
}

/** What a failing answer says, if it is a text: the beginning of it. */
async function readSome(answer: IncomingMessage): Promise<SomeText> {
  const chunks: Buffer[] = []
  let length = 0
  const giveUp = setTimeout(() => answer.destroy(), restWithin)
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      length += chunk.length
      if (length > mostRead) break
    }
  } catch {
    // It was cut; its status is known.
  } finally {
    clearTimeout(giveUp)
  }
  const type = answer.headers['content-type'] ?? ''
  const isText = /^(?:text\/|application\/(?:[\w.]+\+)?json)/.test(type)
  const response = isText && length > 0 ? Buffer.concat(chunks).toString() : null
  return { response, isCut: length > mostRead }
}

function failureOf(error: unknown, over: AbortSignal): Answered {
  const code = codeOf(error)
  const text = error instanceof Error ? error.message : String(error)
  if (over.aborted) return failedBy('timed_out', 'no answer in time')
  if (code === 'ETIMEDOUT') return failedBy('timed_out', notConnected)
  if (code === refusedCode) return failedBy('address_refused', text)
  if (code === 'ENOTFOUND' || isOfLookup(error)) {
    return failedBy('name_unknown', `the name has no address (${code})`)
  }
  if (code.startsWith('HPE_')) return failedBy('reply_invalid', text)
  if (tlsCodes.test(code)) return failedBy('tls_failed', `${text} (${code})`)
  return failedBy('not_connected', code === '' ? text : code)
}

/** A server of names may refuse a connection too: that is not the endpoint. */
function isOfLookup(error: unknown): boolean {
  const call = error instanceof Error && 'syscall' in error ? String(error.syscall) : ''
  return /^(?:query|getaddrinfo)/.test(call)
}

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

function failedBy(result: SendResult, response: string): Answered {
  return { result, status: null, response, retryAfter: undefined }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
