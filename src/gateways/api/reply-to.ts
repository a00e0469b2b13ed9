import ky, { isHTTPError, isKyError, isTimeoutError, type Options } from 'ky'
import { minutes, seconds } from '../../kernel/duration.ts'
import { isQuittanceError, QuittanceError } from '../../kernel/errors.ts'
import { expireIfLate } from '../../kernel/within.ts'
import { numberTextOf, path, textOf, type JsonValue } from '../body/json.ts'
import { parseJson } from '../body/parse-json.ts'
import { detail } from '../detail.ts'
import type { Exchange, ProviderAnswer } from './exchange.ts'
import { isUnconnected, markReached, markUnsent } from './unsent.ts'

/** The reply as JSON; undefined for a 404. Errors: see `ProviderApi`. */
export async function replyTo(exchange: Exchange): Promise<JsonValue | undefined> {
  let text: string
  try {
    text = await ky(exchange.path, toOptions(exchange)).text()
  } catch (error) {
    const failure = failureOf(error, exchange)
    if (isHTTPError(error) && error.response.status === 404) return undefined
    throw failure
  }
  if (exchange.method !== 'get') markReached(exchange.signal)
  if (text.trim() === '' && exchange.method !== 'get') return null
  const parsed = parseJson(text)
  if (parsed.ok) return parsed.value
  throw new QuittanceError(
    'provider_reply_invalid',
    `${exchange.options.title} answered ${label(exchange)} with something that is no JSON`,
  )
}

/** The answer, whatever its status. Errors: see `ProviderApi`. */
export async function answerTo(exchange: Exchange): Promise<ProviderAnswer> {
  try {
    const asked = ky(exchange.path, { ...toOptions(exchange), throwHttpErrors: false })
    // Also read by ky, so that its limits hold for the body.
    const [{ status }, text] = await Promise.all([asked, asked.text().catch(nothingIfTooLong)])
    markReached(exchange.signal)
    const parsed = parseJson(text)
    return { status, body: parsed.ok ? parsed.value : undefined }
  } catch (error) {
    throw failureOf(error, exchange)
  }
}

/** A reply that is too long says no more than one that is no JSON. */
function nothingIfTooLong(error: unknown): string {
  if (isQuittanceError(error) && error.code === 'provider_reply_invalid') return ''
  throw error
}

const getLimit = seconds(10)
/** Callers that change something set a shorter one with their signal. */
const changeLimit = minutes(1)

function toOptions(exchange: Exchange): Options {
  const { options, method, query = {}, headers, signal, body } = exchange
  const limit = method === 'get' ? getLimit : changeLimit
  const send = boundedFetch(() => tooLong(exchange))
  return {
    method,
    prefix: options.base,
    headers: { accept: 'application/json', ...options.headers, ...headers },
    searchParams: query,
    totalTimeout: limit,
    timeout: limit,
    retry: { limit: 2, methods: ['get'], maxRetryAfter: seconds(2), backoffLimit: seconds(1) },
    // A credential goes to the configured host and to no other.
    redirect: 'error',
    fetch: (input, init) => {
      expireIfLate(signal)
      return send(input, init)
    },
    // We read the text of a refusal, too: JSON.parse would recurse as deep as it is nested.
    parseJson: (text) => text,
    ...(signal && { signal }),
    ...(body && ('json' in body ? body : { body: new URLSearchParams(body.form) })),
  }
}

function tooLong(exchange: Exchange): QuittanceError {
  return new QuittanceError(
    'provider_reply_invalid',
    `${exchange.options.title} answered ${label(exchange)} with more than ${longestReply} bytes`,
  )
}

/** The query is left out: it may carry a token. */
function label({ method, path }: Exchange): string {
  return `${method.toUpperCase()} /${path.replace(/^\/+/, '')}`
}

/** Notes whether anything may have reached the provider. */
function failureOf(error: unknown, exchange: Exchange): unknown {
  const failure = explain(error, exchange)
  if (!isUnconnected(error)) {
    if (exchange.method !== 'get') markReached(exchange.signal)
  } else if (failure instanceof Error) markUnsent(failure, exchange.signal)
  return failure
}

function explain(error: unknown, exchange: Exchange): unknown {
  const { title } = exchange.options
  if (isHTTPError(error)) {
    const { status } = error.response
    const providerCode = codeIn(error.data)
    const said = providerCode === undefined ? '' : ` (${providerCode})`
    const what = `${title} answered ${label(exchange)} with ${status}${said}`
    // The error itself carries the request and its credentials, so it goes no further.
    const open = status >= 500 || status === 429 || status === 408
    const code = open ? 'provider_unreachable' : 'provider_refused'
    return new QuittanceError(code, what, { providerCode })
  }
  if (!isKyError(error) && !(error instanceof TypeError)) return error
  return new QuittanceError(
    'provider_unreachable',
    `${title} did not answer ${label(exchange)}: ${causeOf(error)}`,
  )
}

/** The system's code of the failure. Messages are left out: they may repeat a header's value. */
function causeOf(error: Error): string {
  if (isTimeoutError(error)) return 'no reply in time'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const deeper = error.cause instanceof Error ? causeOf(error.cause) : undefined
  return deeper ?? code ?? 'the request failed'
}

/** Where providers put their own code of an error. */
const codePlaces = [
  ['error', 'code'],
  ['error', 'type'],
  ['errCode'],
  ['err_code'],
  ['response', 'error_code'],
] as const

function codeIn(data: unknown): string | undefined {
  const parsed = parseJson(typeof data === 'string' ? data : '')
  if (!parsed.ok) return undefined
  const codes = codePlaces.map((keys) => {
    const value = path(parsed.value, ...keys)
    return textOf(value) ?? numberTextOf(value)
  })
  const code = codes.find((text) => text !== undefined)
  return code === undefined ? undefined : detail(code)
}

/** How much of a reply is read at most, unpacked. */
const longestReply = 4 * 1024 * 1024

/**
 * `fetch`, with replies whose body fails with `tooLong()` once it exceeds the limit: a small
 * compressed reply can unpack to more than the memory holds.
 */
function boundedFetch(tooLong: () => Error): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (response.body === null) return response
    const { statusText, headers } = response
    // `Response` rejects a status above 599; such a status is the other side's fault, too.
    const status = Math.min(response.status, 599)
    const body = response.body.pipeThrough(limitTo(longestReply, tooLong))
    // Its own class: servers such as Hono's replace the global one, by one that ky cannot extend.
    const Reply = response.constructor as typeof Response
    return new Reply(body, { status, statusText, headers })
  }
}

function limitTo(most: number, tooLong: () => Error): TransformStream<Uint8Array, Uint8Array> {
  let length = 0
  return new TransformStream({
    transform(chunk, controller) {
      length += chunk.byteLength
      if (length > most) controller.error(tooLong())
      else controller.enqueue(chunk)
    },
  })
}
