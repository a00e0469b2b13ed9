import { QuittanceError } from '../../kernel/errors.ts'
import { createProviderApi, type ProviderApi } from '../api/provider-api.ts'
import { isJsonObject, path, textOf, type JsonObject, type JsonValue } from '../body/json.ts'
import { variableFor } from '../credential-fields.ts'
import type { InterpretContext } from '../interpret-context.ts'

export const liveApiBase = 'https://api.paddle.com'

/** Paddle's entities. https://developer.paddle.com/api-reference/about/overview */
export interface PaddleApi {
  /**
   * Undefined: Paddle has none with this id. `include`: what else it shows.
   * Errors: those of `ProviderApi.get`.
   */
  get(collection: string, id: string, include?: string): Promise<JsonObject | undefined>
  /** All that match, page by page to the last one. Same errors. */
  list(collection: string, query: Query): AsyncIterable<readonly JsonObject[]>
  /** The entity that was made. Same errors; a 404 is a `provider_refused`. */
  post(collection: string, json: object): Promise<JsonObject>
  /** The entity as it is now. Same errors. */
  patch(collection: string, id: string, json: object): Promise<JsonObject>
  /** Succeeds even if there is none. Same errors. */
  remove(collection: string, id: string): Promise<void>
}

type Query = Readonly<Record<string, string>>

/** Undefined without an API key; if there are several, the first is used. */
export function paddleApi({ credentials, signal }: InterpretContext): PaddleApi | undefined {
  const [key] = credentials.secrets.api_key ?? []
  if (key === undefined) return undefined
  const api = createProviderApi({
    title: 'Paddle',
    base: credentials.settings.api_base ?? liveApiBase,
    account: credentials.gateway,
    headers: { authorization: `Bearer ${key.reveal()}`, 'paddle-version': '1' },
  })
  return {
    get: async (collection, id, include) => {
      const query = include === undefined ? {} : { query: { include } }
      const reply = await api.get(`${collection}/${id}`, { signal, ...query })
      if (reply === undefined) return undefined
      return entityOf(reply, { label: `GET /${collection}/${id}`, id })
    },
    list: (collection, query) => pagesOf(api, { collection, query, signal }),
    post: async (collection, json) => {
      const label = `POST /${collection}`
      return entityOf(there(await api.post(collection, { json, signal }), label), { label })
    },
    patch: async (collection, id, json) => {
      const label = `PATCH /${collection}/${id}`
      const reply = await api.patch(`${collection}/${id}`, { json, signal })
      return entityOf(there(reply, label), { label, id })
    },
    remove: async (collection, id) => {
      await api.delete(`${collection}/${id}`, { signal })
    },
  }
}

/** Error: `gateway_not_configured`. */
export function requirePaddleApi(context: InterpretContext): PaddleApi {
  const api = paddleApi(context)
  if (api !== undefined) return api
  throw new QuittanceError(
    'gateway_not_configured',
    `Paddle cannot be asked for anything without ${variableFor(context.credentials, 'api_key')}`,
  )
}

/** The error for a reply from Paddle that is not about what was asked. */
export function replyInvalid(label: string): QuittanceError {
  return new QuittanceError(
    'provider_reply_invalid',
    `Paddle answered ${label} with something else`,
  )
}

/** What does not exist cannot have been changed. */
function there(reply: JsonValue | undefined, label: string): JsonValue {
  if (reply !== undefined) return reply
  throw new QuittanceError('provider_refused', `Paddle answered ${label} with 404 (not_found)`, {
    providerCode: 'not_found',
  })
}

function entityOf(
  reply: JsonValue,
  { label, id }: { readonly label: string; readonly id?: string },
): JsonObject {
  const entity = path(reply, 'data')
  if (isJsonObject(entity) && (id === undefined || entity.get('id') === id)) return entity
  throw replyInvalid(label)
}

interface ListRequest {
  readonly collection: string
  readonly query: Query
  readonly signal: AbortSignal
}

/** https://developer.paddle.com/api-reference/about/pagination */
async function* pagesOf(
  api: ProviderApi,
  { collection, query, signal }: ListRequest,
): AsyncGenerator<readonly JsonObject[]> {
  const label = `GET /${collection}`
  const cursors = new Set<string>()
  let after: string | undefined
  for (;;) {
    const page = after === undefined ? query : { ...query, after }
    const reply = await api.get(collection, { query: page, signal })
    const data = reply === undefined ? undefined : path(reply, 'data')
    if (reply === undefined || !Array.isArray(data) || !data.every(isJsonObject)) {
      throw replyInvalid(label)
    }
    yield data
    const hasMore = path(reply, 'meta', 'pagination', 'has_more')
    if (hasMore === false) return
    after = cursorIn(textOf(path(reply, 'meta', 'pagination', 'next')))
    // A cursor that comes again would make us loop for ever.
    if (hasMore !== true || after === undefined || cursors.has(after)) throw replyInvalid(label)
    cursors.add(after)
  }
}

const cursorGrammar = /^[a-z0-9_]{1,100}$/

/** Only the cursor is taken from the URL of the next page: the key is sent to no other host. */
function cursorIn(next: string | undefined): string | undefined {
  const cursor = URL.parse(next ?? '', liveApiBase)?.searchParams.get('after') ?? ''
  return cursorGrammar.test(cursor) ? cursor : undefined
}
