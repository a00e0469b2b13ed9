import ky, { isHTTPError, isKyError, isTimeoutError, type Options } from 'ky'
import { seconds } from '../../kernel/duration.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { path, textOf, type JsonValue } from '../body/json.ts'
import { parseJson } from '../body/parse-json.ts'
import { detail } from '../detail.ts'
import type { PostBody, ProviderApiOptions } from './provider-api.ts'

/** One request, and whose it is. */
export interface Exchange {
  readonly options: ProviderApiOptions
  readonly method: 'get' | 'post'
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly signal: AbortSignal | undefined
  readonly body?: PostBody
}

/** The reply as JSON; undefined for a 404. Errors: see `ProviderApi`. */
export async function replyTo(exchange: Exchange): Promise<JsonValue | undefined> {
  let text: string
  try {
    text = await ky(exchange.path, toOptions(exchange)).text()
  } catch (error) {
    if (isHTTPError(error) && error.response.status === 404) return undefined
    throw explain(error, exchange)
  }
  const parsed = parseJson(text)
  if (parsed.ok) return parsed.value
  throw new QuittanceError(
    'provider_reply_invalid',
    `${exchange.options.title} answered ${label(exchange)} with something that is no JSON`,
  )
}

function toOptions({ options, method, query, signal, body }: Exchange): Options {
  return {
    method,
    prefix: options.base,
    headers: { accept: 'application/json', ...options.headers },
    searchParams: query,
    totalTimeout: seconds(10),
    timeout: seconds(10),
    retry: { limit: 2, methods: ['get'], maxRetryAfter: seconds(2), backoffLimit: seconds(1) },
    // A credential goes to the host that was configured, and to no other.
    redirect: 'error',
    ...(signal && { signal }),
    ...(body && ('json' in body ? body : { body: new URLSearchParams(body.form) })),
  }
}

/** The query is left out: it may carry a token. */
function label({ method, path }: Exchange): string {
  return `${method.toUpperCase()} /${path.replace(/^\/+/, '')}`
}

function explain(error: unknown, exchange: Exchange): unknown {
  const { title } = exchange.options
  if (isHTTPError(error)) {
    const { status } = error.response
    const what = `${title} answered ${label(exchange)} with ${status}${saidIn(error.data)}`
    // The error itself carries the request and its credentials: it goes no further.
    return status >= 500 || status === 429 || status === 408
      ? new QuittanceError('provider_unreachable', what)
      : new QuittanceError('provider_refused', what)
  }
  if (!isKyError(error) && !(error instanceof TypeError)) return error
  return new QuittanceError(
    'provider_unreachable',
    `${title} did not answer ${label(exchange)}: ${causeOf(error)}`,
  )
}

/** The system's code of the failure. Messages are left out: one may repeat a header's value. */
function causeOf(error: Error): string {
  if (isTimeoutError(error)) return 'no reply within 10 s'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const deeper = error.cause instanceof Error ? causeOf(error.cause) : undefined
  return deeper ?? code ?? 'the request failed'
}

/** The provider's own code of the error, where its reply has one of the usual places for it. */
function saidIn(data: unknown): string {
  const parsed = parseJson(JSON.stringify(data ?? null))
  if (!parsed.ok) return ''
  const code = [['error', 'code'], ['error', 'type'], ['errCode'], ['err_code']]
    .map((keys) => textOf(path(parsed.value, ...keys)))
    .find((text) => text !== undefined)
  return code === undefined ? '' : ` (${detail(code)})`
}
