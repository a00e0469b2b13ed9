import pLimit from 'p-limit'
import type { JsonValue } from '../body/json.ts'
import type {
  ChangeMethod,
  Exchange,
  ProviderAnswer,
  ProviderApiOptions,
  RequestBody,
  RequestOptions,
} from './exchange.ts'

/** A provider's API: replies as strict JSON, numbers with their source text. */
export interface ProviderApi {
  /**
   * Tried up to three times within 10 s. Undefined: the provider has no such object (404).
   * Errors: `provider_unreachable`, `provider_refused`, `provider_reply_invalid`.
   */
  get(path: string, options?: RequestOptions): Promise<JsonValue | undefined>
  /**
   * Tried once, within a minute or until the signal ends it: without a reply it is unknown what
   * became of the request. Same errors.
   */
  post(path: string, options: RequestOptions & RequestBody): Promise<JsonValue | undefined>
  /** Like `post`. */
  patch(path: string, options: RequestOptions & RequestBody): Promise<JsonValue | undefined>
  /** Like `post`; an empty reply is null. */
  delete(path: string, options?: RequestOptions): Promise<JsonValue | undefined>
  /**
   * Like `post`, but every answer is a result, for refusals that say more than a code. Only error:
   * `provider_unreachable`, if there was no answer.
   */
  answer(
    method: ChangeMethod,
    path: string,
    options?: RequestOptions & { readonly body?: RequestBody },
  ): Promise<ProviderAnswer>
}

/** Requests of one account to one host at the same time; further ones wait. */
const mostAtOnce = 16
const limits = new Map<string, ReturnType<typeof pLimit>>()

/** A client of a provider's API: bounded in time and number, with errors that show no credential. */
export function createProviderApi(options: ProviderApiOptions): ProviderApi {
  const limit = limitOf(options)
  // Loaded when it is needed: most processes never ask a provider anything.
  const load = () => import('./reply-to.ts')
  const request = (exchange: Omit<Exchange, 'options'>) =>
    limit(async () => (await load()).replyTo({ ...exchange, options }))
  return {
    get: (path, more = {}) => request({ method: 'get', path, ...more }),
    post: (path, more) => request({ method: 'post', path, ...more, body: bodyOf(more) }),
    patch: (path, more) => request({ method: 'patch', path, ...more, body: bodyOf(more) }),
    delete: (path, more = {}) => request({ method: 'delete', path, ...more }),
    answer: (method, path, more = {}) =>
      limit(async () => (await load()).answerTo({ method, path, ...more, options })),
  }
}

function bodyOf(body: RequestBody): RequestBody {
  return 'json' in body ? { json: body.json } : { form: body.form }
}

function limitOf({ base, account = '' }: ProviderApiOptions): ReturnType<typeof pLimit> {
  const name = `${account} ${new URL(base).origin}`
  const limit = limits.get(name) ?? pLimit(mostAtOnce)
  limits.set(name, limit)
  return limit
}
