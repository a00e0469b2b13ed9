import { isQuittanceError, QuittanceError } from '../../kernel/errors.ts'
import { createProviderApi, type ProviderApi } from '../api/provider-api.ts'
import { path as valueAt, textOf, type JsonValue } from '../body/json.ts'
import { variableFor } from '../credential-fields.ts'
import { isHttpUrl } from '../is-http-url.ts'
import type { OperationContext } from '../interpret-context.ts'
import { defaultApiBase } from './signature.ts'

/** The bank's acquiring API, for one of its merchants. https://monobank.ua/api-docs/acquiring */
export interface MonobankApi {
  /** With each token until one finds it; undefined: the bank has no such object. */
  get(path: string, query: Readonly<Record<string, string>>): Promise<JsonValue | undefined>
  /** One request with the first token, whatever happens to it; an empty reply is null. */
  post(path: string, json: object): Promise<JsonValue>
  /** The same; what is not there is removed. */
  remove(path: string, query: Readonly<Record<string, string>>): Promise<void>
}

/** Errors: `gateway_not_configured` without a token; from requests, those of `ProviderApi`. */
export function monobankApi({ credentials, signal }: OperationContext): MonobankApi {
  const base = credentials.settings.api_base ?? defaultApiBase
  const clients = (credentials.secrets.token ?? []).map((token) => {
    const headers = { 'x-token': token.reveal() }
    return createProviderApi({ title: 'monobank', base, headers, account: credentials.gateway })
  })
  const [first] = clients
  if (first === undefined) {
    throw new QuittanceError(
      'gateway_not_configured',
      `monobank cannot be asked for anything without ${variableFor(credentials, 'token')}`,
    )
  }
  return {
    get: (path, query) => firstFound(clients, (client) => client.get(path, { query, signal })),
    post: (path, json) => postOnce(path, () => first.post(path, { json, signal })),
    remove: async (path, query) => {
      await changeOnce(() => first.delete(path, { query, signal }))
    },
  }
}

/** While the token is being replaced, only the bank knows which one is valid. */
async function firstFound(
  clients: readonly ProviderApi[],
  ask: (client: ProviderApi) => Promise<JsonValue | undefined>,
): Promise<JsonValue | undefined> {
  let refusal: unknown
  let refusals = 0
  for (const client of clients) {
    try {
      const reply = await ask(client)
      if (reply !== undefined) return reply
    } catch (error) {
      if (!isQuittanceError(error) || error.code !== 'provider_refused') throw error
      refusal ??= error
      refusals += 1
    }
  }
  if (refusals === clients.length) throw refusal
  return undefined
}

async function postOnce(
  path: string,
  ask: () => Promise<JsonValue | undefined>,
): Promise<JsonValue> {
  const reply = await changeOnce(ask)
  if (reply !== undefined) return reply
  throw new QuittanceError('provider_refused', `monobank answered POST /${path} with 404`, {
    providerCode: notFound,
  })
}

/** Undefined: the bank has no such object. */
async function changeOnce(
  ask: () => Promise<JsonValue | undefined>,
): Promise<JsonValue | undefined> {
  return ask().catch((error: unknown) => {
    throw isCertainRefusal(error) ? toRefusal(error) : error
  })
}

/** The code that the bank documents for a 404. */
const notFound = 'NOT_FOUND'

/**
 * Codes of the bank that mean "not done" under a status that alone would leave it open: too many
 * requests (429), and a payment that cannot be refunded (500).
 */
const certainCodes: ReadonlySet<string | undefined> = new Set(['TMR', 'CANCEL_NOT_AVAILABLE'])

function isCertainRefusal(error: unknown): error is QuittanceError {
  return isQuittanceError(error) && certainCodes.has(error.providerCode)
}

function toRefusal({ message, providerCode }: QuittanceError): QuittanceError {
  return new QuittanceError('provider_refused', message, { providerCode })
}

/** The http(s) URL in a field of a reply; undefined if there is none. */
export function urlIn(reply: JsonValue, field: string): string | undefined {
  const url = textOf(valueAt(reply, field))
  return url !== undefined && isHttpUrl(url) ? url : undefined
}

/** The bank's answer does not fit the request: it is unknown what became of the request. */
export function invalidReply(path: string, fault: string): QuittanceError {
  return new QuittanceError('provider_reply_invalid', `monobank answered /${path} ${fault}`)
}
