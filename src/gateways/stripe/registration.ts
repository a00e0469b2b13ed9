import { secret } from '../../kernel/secret.ts'
import { textOf, type JsonObject, type JsonValue } from '../body/json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { RegisteredEndpoint, Registration } from '../operations.ts'
import { apiVersion, openClient, type StripeClient } from './api.ts'
import { handledEvents } from './interpret.ts'
import { isId } from './payload.ts'
import { done, notAskedFor, type Form } from './api-change.ts'

const path = 'v1/webhook_endpoints'

/** https://docs.stripe.com/api/webhook_endpoints */
export const registration: Registration = {
  events: handledEvents,
  apiVersion,
  secretField: 'signing_secret',
  notes: [
    'Stripe tells the signing secret only when it makes the endpoint; later the Dashboard shows it.',
    'The API version of an endpoint cannot be changed: remove the endpoint and make another one.',
    'Only the Dashboard can roll a signing secret; or make another endpoint and remove this one.',
    'Test and live mode have endpoints of their own: the first STRIPE_SECRET_KEY decides which.',
  ],
  async list(context) {
    return (await clientOf(context).list(path, {})).map((object) => toEndpoint(object))
  },
  async create(url, context) {
    const form = { ...endpointForm(url), api_version: apiVersion, description: 'Quittance' }
    const object = await done(clientOf(context).send({ method: 'post', path, form }))
    const shown = textOf(object.get('secret'))
    if (shown === undefined || shown === '') throw notAskedFor(`POST /${path}`)
    return { ...toEndpoint(object), secret: secret(shown) }
  },
  async update(id, url, context) {
    const form = { ...endpointForm(url), disabled: 'false' }
    const object = await done(clientOf(context).send({ method: 'post', path: pathOf(id), form }))
    return sameEndpoint(toEndpoint(object), id)
  },
  async remove(id, context) {
    const object = await done(clientOf(context).send({ method: 'delete', path: pathOf(id) }))
    if (object.get('id') !== id || object.get('deleted') !== true) {
      throw notAskedFor(`DELETE /${path}`)
    }
  },
}

/** An endpoint belongs to the key's own account, in the key's mode. */
function clientOf(context: OperationContext): StripeClient {
  return openClient({ live: undefined, account: undefined }, context)
}

function pathOf(id: string): string {
  if (isId(id, 'we_')) return `${path}/${id}`
  throw notAskedFor(`GET /${path}`)
}

function endpointForm(url: string): Form {
  const events = handledEvents.map((type, index) => [`enabled_events[${index}]`, type])
  return { url, ...(Object.fromEntries(events) as Form) }
}

function toEndpoint(object: JsonObject): RegisteredEndpoint {
  const id = object.get('id')
  const url = textOf(object.get('url'))
  const events = textsOf(object.get('enabled_events'))
  if (!isId(id, 'we_') || url === undefined || events === undefined) {
    throw notAskedFor(`GET /${path}`)
  }
  return {
    id,
    url,
    events,
    enabled: object.get('status') === 'enabled',
    // Null: the account's default, whatever that is at the time.
    apiVersion: textOf(object.get('api_version')) ?? null,
  }
}

function textsOf(value: JsonValue | undefined): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const texts = (value as readonly JsonValue[]).filter((item) => typeof item === 'string')
  return texts.length === value.length ? texts : undefined
}

function sameEndpoint(endpoint: RegisteredEndpoint, id: string): RegisteredEndpoint {
  if (endpoint.id !== id) throw notAskedFor(`POST /${path}/${id}`)
  return endpoint
}
