import {
  deleteEndpoint,
  enableEndpoint,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  holdStoredSecrets,
  readStoredSecrets,
  updateEndpoint,
  writeSecrets,
} from '../database/endpoints.ts'
import { findEvent } from '../database/events.ts'
import { sqlStateOf } from '../database/failure.ts'
import { listAttempts, listForwards, writeResend } from '../database/forwards.ts'
import type { Endpoint } from '../events/endpoint.ts'
import { fieldError, QuittanceError } from '../kernel/errors.ts'
import { newUuid } from '../kernel/ids.ts'
import { readUuid, withUuid } from '../kernel/uuid.ts'
import { refuseInsideListener } from '../listeners/listener-scope.ts'
import { createConnections, urlFault } from '../outbound/connect.ts'
import { isEndpointName, readEndpoint, readEndpointChanges } from '../outbound/endpoint-input.ts'
import { findCursor, findEnd } from '../outbound/feed-cursor.ts'
import { disable } from '../outbound/flush-results.ts'
import { newSecretText, openSecrets, sealRotated, sealSecret } from '../outbound/secrets.ts'
import { sendTest } from '../outbound/send-test.ts'
import type { EndpointOperations, ReplayInput } from './endpoint-types.ts'
import type { Parts } from './parts.ts'
import type { Runtime } from './runtime.ts'
import type { ServiceSettings } from './settings.ts'

/** `billing.endpoints` */
export function endpointOperations(runtime: Runtime): EndpointOperations {
  const { settings } = runtime
  const opened = async (what: string) => {
    refuseInsideListener(`billing.endpoints.${what}`)
    return openedOf(await runtime.parts(), settings)
  }
  return {
    list: async () => listEndpoints((await opened('list')).db),
    get: async (name) => find(await opened('get'), name),
    create: async (input) => create(await opened('create'), input),
    update: async (name, changes) => {
      const context = await opened('update')
      const { id } = await changeable(context, name)
      return existing(await update(context, id, changes))
    },
    remove: async (name) => {
      const context = await opened('remove')
      const { id } = await changeable(context, name)
      await deleteEndpoint(context.db, id)
    },
    rotateSecret: async (name) => rotate(await opened('rotateSecret'), name),
    enable: async (name, { from } = {}) => {
      const context = await opened('enable')
      const { id } = await required(context, name)
      const place = from === 'end' ? { from: (await findEnd(context)).position } : undefined
      return existing(await enableEndpoint(context.db, id, place))
    },
    disable: async (name) => {
      const context = await opened('disable')
      const { id } = await required(context, name)
      const { queue } = settings
      await disable(context.db, { id, reason: 'operator' }, { newId: newUuid, queue })
      return required(context, id)
    },
    replay: async (name, from) => replay(await opened('replay'), name, from),
    resend: async (name, eventId) => resend(await opened('resend'), name, eventId),
    test: async (name) => test(await opened('test'), name),
    attempts: async (name, query = {}) => {
      const context = await opened('attempts')
      if (query.eventId !== undefined && readUuid(query.eventId) === undefined) throw noSuchEvent()
      return listAttempts(context.db, (await required(context, name)).id, query)
    },
    forwards: async (name, query = {}) => {
      const context = await opened('forwards')
      return listForwards(context.db, (await required(context, name)).id, query)
    },
  }
}

function openedOf({ open, feed }: Pick<Parts, 'open' | 'feed'>, settings: ServiceSettings) {
  const { db, transaction } = open.database
  return { db, transaction, numberer: feed.numberer, settings }
}

type Opened = ReturnType<typeof openedOf>

async function find({ db }: Opened, name: string): Promise<Endpoint | undefined> {
  const id = readUuid(name)
  if (id !== undefined) return findEndpoint(db, { id })
  return isEndpointName(name) ? findEndpoint(db, { name }) : undefined
}

function existing<T>(found: T | undefined): T {
  if (found !== undefined) return found
  throw new QuittanceError('endpoint_not_found', 'there is no endpoint of this name or id')
}

async function required(context: Opened, name: string): Promise<Endpoint> {
  return existing(await find(context, name))
}

/** One that is not declared, or is no longer. */
async function changeable(context: Opened, name: string): Promise<Endpoint> {
  const endpoint = await required(context, name)
  const { declared } = context.settings.forward
  if (endpoint.source === 'api' || !declared.has(endpoint.name)) return endpoint
  throw declaredOnly(endpoint)
}

function declaredOnly({ name }: Endpoint): QuittanceError {
  return new QuittanceError('endpoint_declared', `${name} is declared in the configuration`)
}

function requireUrl(url: string, { forward }: ServiceSettings): void {
  const fault = urlFault(url, forward.connect)
  if (fault !== undefined) throw fieldError('endpoint_url_refused', 'url', fault)
}

async function create(context: Opened, input: unknown) {
  const { db, settings } = context
  const fields = readEndpoint(input)
  requireUrl(fields.url, settings)
  const id = newUuid()
  const secret = newSecretText()
  const endpoint = await insertEndpoint(db, {
    ...fields,
    id,
    source: 'api',
    secrets: sealSecret(settings.cipher, { endpointId: id, text: secret }),
    position: (await findEnd(context)).position,
  })
  if (endpoint !== undefined) return { endpoint, secret }
  throw nameTaken(fields.name)
}

async function update({ db, settings }: Opened, id: string, changes: unknown) {
  const read = readEndpointChanges(changes)
  if (read.url !== undefined) requireUrl(read.url, settings)
  try {
    return await updateEndpoint(db, id, read)
  } catch (error) {
    throw sqlStateOf(error) === '23505' && read.name !== undefined ? nameTaken(read.name) : error
  }
}

function nameTaken(name: string): QuittanceError {
  return new QuittanceError('endpoint_exists', `there is an endpoint called ${name}`)
}

async function rotate(context: Opened, name: string) {
  const { settings } = context
  const endpoint = await changeable(context, name)
  if (endpoint.source === 'config') throw declaredOnly(endpoint)
  const endpointId = endpoint.id
  const secret = newSecretText()
  // Held meanwhile: of two at the same time each would forget the secret of the other.
  await context.transaction(async ({ db }) => {
    const stored = existing(await holdStoredSecrets(db, endpointId)) ?? new Uint8Array()
    const now = settings.clock()
    const sealed = sealRotated(settings.cipher, { endpointId, stored, text: secret, now })
    await writeSecrets(db, endpointId, sealed)
  })
  return { endpoint, secret }
}

async function replay(context: Opened, name: string, from: ReplayInput): Promise<Endpoint> {
  if ((from.after === undefined) === (from.since === undefined)) {
    throw fieldError('query_invalid', 'after', 'or since is required, and not both')
  }
  const { id } = await required(context, name)
  const { position } = await findCursor(context, from)
  // Behind its place nothing was sent yet: to go on there would leave out what lies between.
  return existing(await enableEndpoint(context.db, id, { fromAtMost: position }))
}

async function resend(context: Opened, name: string, eventId: string): Promise<void> {
  const { id } = await required(context, name)
  const event = await withUuid(eventId, (known) => findEvent(context.db, known))
  if (event?.position === undefined || event.position === null) {
    throw noSuchEvent()
  }
  await writeResend(context.db, id, { id: event.id, position: BigInt(event.position) })
}

function noSuchEvent(): QuittanceError {
  return new QuittanceError('event_not_found', 'there is no event with this id in the feed')
}

async function test(context: Opened, name: string) {
  const { db, settings } = context
  const { forward, cipher, clock, scrub } = settings
  const endpoint = await required(context, name)
  const stored = await readStoredSecrets(db, endpoint.id)
  const secrets =
    stored === null
      ? forward.declared.get(endpoint.name)?.secrets
      : openSecrets(cipher, { endpointId: endpoint.id, stored, now: clock() })
  if (secrets === undefined) {
    throw new QuittanceError('encryption_key_missing', 'its secret cannot be read here')
  }
  const connections = createConnections(forward.connect)
  try {
    return await sendTest({ endpoint, secrets, now: clock(), id: newUuid(), scrub }, connections)
  } finally {
    connections.end()
  }
}
