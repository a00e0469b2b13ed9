import { QuittanceError } from '../../kernel/errors.ts'
import { createProviderApi } from '../api/provider-api.ts'
import { isJsonObject, path, type JsonObject } from '../body/json.ts'
import type { InterpretContext } from '../gateway.ts'

export const liveApiBase = 'https://api.paddle.com'

/** Reads Paddle's entities. https://developer.paddle.com/api-reference/about/overview */
export interface PaddleApi {
  /** Undefined: Paddle has none with this id. Errors: those of `ProviderApi.get`. */
  get(collection: string, id: string): Promise<JsonObject | undefined>
}

/** Undefined without an API key. */
export function paddleApi({ credentials, signal }: InterpretContext): PaddleApi | undefined {
  const [key] = credentials.secrets.api_key ?? []
  if (key === undefined) return undefined
  const api = createProviderApi({
    title: 'Paddle',
    base: credentials.settings.api_base ?? liveApiBase,
    headers: { authorization: `Bearer ${key.reveal()}`, 'paddle-version': '1' },
  })
  return {
    get: async (collection, id) => {
      const reply = await api.get(`${collection}/${id}`, { signal })
      if (reply === undefined) return undefined
      const entity = path(reply, 'data')
      if (isJsonObject(entity) && entity.get('id') === id) return entity
      throw new QuittanceError(
        'provider_reply_invalid',
        `Paddle answered GET /${collection}/${id} with something else`,
      )
    },
  }
}
