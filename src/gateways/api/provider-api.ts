import ky, { isHTTPError, isKyError, isTimeoutError, type KyInstance, type Options } from 'ky'
import pLimit from 'p-limit'
import { seconds } from '../../kernel/duration.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import type { JsonValue } from '../body/json.ts'
import { path, textOf } from '../body/json.ts'
import { parseJson } from '../body/parse-json.ts'
import { detail } from '../detail.ts'

/** A provider's API: replies as strict JSON, numbers with their source text. */
export interface ProviderApi {
  /**
   * Tried up to three times within 10 s. Undefined: the provider has no such object (404).
   * Errors: `provider_unreachable`, `provider_refused`, `provider_reply_invalid`.
   */
  get(path: string, options?: RequestOptions): Promise<JsonValue | undefined>
  /** Tried once: nobody knows what became of a request without a reply. Same errors. */
  post(path: string, options: RequestOptions & PostBody): Promise<JsonValue | undefined>
}

interface RequestOptions {
  readonly query?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** What is posted: as JSON, or as form fields. */
export type PostBody =
  | { readonly json: unknown }
  | { readonly form: Readonly<Record<string, string>> }

/** Whose API it is, and how it is reached. */
export interface ProviderApiOptions {
  /** How messages name the provider. */
  readonly title: string
  /** An http(s) URL; paths go below it. */
  readonly base: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Requests to one host at the same time; whoever has more waits. */
const mostAtOnce = 16
const limits = new Map<string, ReturnType<typeof pLimit>>()

/** A client of a provider's API: bounded in time and number, with errors that show no credential. */
export function createProviderApi(options: ProviderApiOptions): ProviderApi {
  const { base, headers = {} } = options
  const limit = limitOf(new URL(base).origin)
  const client = ky.create({
    prefix: base,
    headers: { accept: 'application/json', ...headers },
    totalTimeout: seconds(10),
    timeout: seconds(10),
    retry: { limit: 2, methods: ['get'], maxRetryAfter: seconds(2), backoffLimit: seconds(1) },
    // A credential goes to the host that was configured, and to no other.
    redirect: 'error',
  })
  const request = (method: 'get' | 'post', path: string, more: Options) =>
    limit(() => replyOf(client, { options, method, path, more }))
  return {
    get: (path, { query = {}, signal } = {}) =>
      request('get', path, { searchParams: query, ...(signal && { signal }) }),
    post: (path, { query = {}, signal, ...body }) =>
      request('post', path, {
        searchParams: query,
        ...(signal && { signal }),
        ...('json' in body ? { json: body.json } : { body: new URLSearchParams(body.form) }),
      }),
  }
}

function limitOf(origin: string): ReturnType<typeof pLimit> {
  const limit = limits.get(origin) ?? pLimit(mostAtOnce)
  limits.set(origin, limit)
  return limit
}

interface Exchange {
  readonly options: ProviderApiOptions
  readonly method: 'get' | 'post'
  readonly path: string
  readonly more: Options
}

async function replyOf(client: KyInstance, exchange: Exchange): Promise<JsonValue | undefined> {
  const { method, path, more } = exchange
  let text: string
  try {
    text = await client(path, { ...more, method }).text()
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
