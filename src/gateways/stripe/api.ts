import { QuittanceError } from '../../kernel/errors.ts'
import type { Log } from '../../kernel/log.ts'
import { createProviderApi } from '../api/provider-api.ts'
import { isJsonObject, path, type JsonObject, type JsonValue } from '../body/json.ts'
import { variableFor } from '../credential-fields.ts'
import type { InterpretContext } from '../interpret-context.ts'
import { keyForMode } from './keys.ts'
import { isId, type Snapshot, type StripeEvent } from './payload.ts'
import { notAskedFor, send, type Change, type StripeReply } from './api-change.ts'

/** The API version of the events that we read and of the replies to look-ups. */
export const apiVersion = '2026-10-28.endive'

type Query = Readonly<Record<string, string>>

/** What may be looked up. Errors: those of `ProviderApi`. */
export interface StripeApi {
  /** Undefined: Stripe has no such object. */
  get(path: string, query?: Query): Promise<JsonObject | undefined>
  /** All objects of a list, however many pages it has. */
  list(path: string, query: Query): Promise<readonly JsonObject[]>
  /** A list page by page, newest first. */
  pages(path: string, query: Query): AsyncIterable<readonly JsonObject[]>
}

/** What may be looked up and changed. */
export interface StripeClient extends StripeApi {
  /** Sent once, whatever happens to it. */
  send(change: Change): Promise<StripeReply>
}

/** What an interpretation may use besides the event itself. */
export interface LookUps {
  /** Undefined without an API key for the event's mode: then the event must be enough. */
  readonly api: StripeApi | undefined
  /** The detail for an event that cannot be understood without the API. */
  readonly noKey: string
  readonly log: Log
}

/** The account and the mode of the event decide which API is asked, and with which key. */
export function openLookUps(event: StripeEvent, context: InterpretContext): LookUps {
  return { api: connect(event, context), noKey: noKeyText(context), log: context.log }
}

export function noKeyText(context: InterpretContext): string {
  return `${keyVariable(context)} is not set`
}

/** Where the API key is set. */
export function keyVariable({ credentials }: InterpretContext): string {
  return variableFor(credentials, 'secret_key')
}

/**
 * Which API is asked: with the first key of this mode, in this connected account or the key's own.
 */
export type Whose = Pick<Snapshot, 'live' | 'account'>

/** Errors: `gateway_not_configured` without a key for this mode. */
export function openClient(whose: Whose, context: InterpretContext): StripeClient {
  const client = connect(whose, context)
  if (client !== undefined) return client
  const mode = whose.live === undefined ? '' : whose.live ? ' for live mode' : ' for test mode'
  throw new QuittanceError(
    'gateway_not_configured',
    `Stripe cannot be asked without a key${mode} in ${keyVariable(context)}`,
  )
}

function connect({ live, account }: Whose, context: InterpretContext): StripeClient | undefined {
  const { credentials, signal } = context
  const key = keyForMode(credentials.secrets.secret_key ?? [], live)
  const base = credentials.settings.api_base
  if (key === undefined || base === undefined) return undefined
  const headers = {
    authorization: `Bearer ${key.reveal()}`,
    'stripe-version': apiVersion,
    ...(account !== undefined && { 'stripe-account': account }),
  }
  const api = createProviderApi({ title: 'Stripe', base, headers, account: credentials.gateway })
  const read = async (path: string, query: Query = {}) =>
    objectOf(await api.get(path, { query, signal }), path)
  return {
    get: async (path, query) => sameObject(await read(path, query), path),
    list: (path, query) => allOf(pagesOf(read, path, query)),
    pages: (path, query) => pagesOf(read, path, query),
    send: (change) => send(change, { api, signal }),
  }
}

/** The most objects that Stripe lists in one reply. */
const mostPerPage = '100'

/** https://docs.stripe.com/api/pagination */
async function* pagesOf(
  read: StripeApi['get'],
  path: string,
  query: Query,
): AsyncGenerator<readonly JsonObject[]> {
  let after: Query | undefined = {}
  while (after !== undefined) {
    const asked = { ...query, limit: query.limit ?? mostPerPage, ...after }
    const page: Page = pageOf(await read(path, asked), path)
    yield page.objects
    after = page.next === undefined ? undefined : { starting_after: page.next }
  }
}

async function allOf(pages: AsyncIterable<readonly JsonObject[]>): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  for await (const page of pages) found.push(...page)
  return found
}

interface Page {
  readonly objects: readonly JsonObject[]
  /** The id after which the next page begins. */
  readonly next: string | undefined
}

function pageOf(reply: JsonObject | undefined, asked: string): Page {
  if (reply === undefined) return { objects: [], next: undefined }
  const data = reply.get('data')
  if (!Array.isArray(data)) throw invalidReply(asked)
  const objects = (data as readonly JsonValue[]).filter(isJsonObject)
  const last = path(objects.at(-1) ?? null, 'id')
  const more = reply.get('has_more') === true
  // A list that continues without a next id would never end.
  if (objects.length !== data.length || (more && !isId(last))) throw invalidReply(asked)
  return { objects, next: more && isId(last) ? last : undefined }
}

function objectOf(reply: JsonValue | undefined, path: string): JsonObject | undefined {
  if (reply !== undefined && !isJsonObject(reply)) throw invalidReply(path)
  return reply
}

/** A reply about another object would be recorded for the wrong payment. */
function sameObject(reply: JsonObject | undefined, path: string): JsonObject | undefined {
  const id = reply?.get('id')
  if (reply === undefined || (isId(id) && path.endsWith(`/${id}`))) return reply
  throw invalidReply(path)
}

function invalidReply(path: string): QuittanceError {
  return notAskedFor(`GET /${path}`)
}
