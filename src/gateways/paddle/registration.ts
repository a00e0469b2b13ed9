import { secret } from '../../kernel/secret.ts'
import { numberTextOf, path, textOf, type JsonObject, type JsonValue } from '../body/json.ts'
import type { RegisteredEndpoint, Registration } from '../operations.ts'
import { replyInvalid, requirePaddleApi } from './api.ts'
import { handledEvents } from './interpret.ts'
import { isId } from './payload.ts'

const collection = 'notification-settings'
const apiVersion = '1'
const mostPerPage = '200'

/**
 * Simulated events are signed with the same key as real ones, but their content is made up: one
 * that names a payment would settle it. So we ask only for events from the platform.
 */
const settings = {
  subscribed_events: handledEvents,
  api_version: Number(apiVersion),
  traffic_source: 'platform',
}

/** https://developer.paddle.com/api-reference/notification-settings/overview */
export const paddleRegistration: Registration = {
  events: handledEvents,
  apiVersion,
  secretField: 'signing_secret',
  notes: [
    'Paddle sends to at most 10 active destinations of an account: deactivate one where there is no room.',
    'Paddle sends to public https URLs only: with a local service use a tunnel.',
    "Events of Paddle's simulator are not sent to this destination, since they are signed like real ones: make another one, of another service, to try them.",
    'Sandbox and live are accounts of their own: each needs its destination, its API key and its secret.',
  ],
  async list(context) {
    const query = { order_by: 'id[ASC]', per_page: mostPerPage }
    const endpoints: RegisteredEndpoint[] = []
    for await (const page of requirePaddleApi(context).list(collection, query)) {
      // The others are e-mail addresses.
      const urls = page.filter((setting) => setting.get('type') === 'url')
      endpoints.push(...urls.map((setting) => endpointOf(setting, `GET /${collection}`)))
    }
    return endpoints
  },
  async create(url, context) {
    const json = { description: 'Quittance', type: 'url', destination: url, ...settings }
    const setting = await requirePaddleApi(context).post(collection, json)
    return endpointOf(setting, `POST /${collection}`)
  },
  async update(id, url, context) {
    const json = { destination: url, active: true, ...settings }
    const setting = await requirePaddleApi(context).patch(collection, encodeURIComponent(id), json)
    return endpointOf(setting, `PATCH /${collection}`)
  },
  async remove(id, context) {
    await requirePaddleApi(context).remove(collection, encodeURIComponent(id))
  },
}

function endpointOf(setting: JsonObject, label: string): RegisteredEndpoint {
  const id = setting.get('id')
  const url = textOf(setting.get('destination'))
  const events = setting.get('subscribed_events')
  if (!isId(id, 'ntfset_') || url === undefined || !Array.isArray(events)) {
    throw replyInvalid(label)
  }
  const key = textOf(setting.get('endpoint_secret_key'))
  return {
    id,
    url,
    events: events.flatMap((event: JsonValue) => textOf(path(event, 'name')) ?? []),
    enabled: setting.get('active') === true,
    apiVersion: numberTextOf(setting.get('api_version')) ?? null,
    ...(key !== undefined && { secret: secret(key) }),
  }
}
