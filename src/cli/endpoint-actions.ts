import type { Command } from 'commander'
import type { CreatedEndpoint } from '../billing/endpoint-types.ts'
import type { BillingCore } from '../billing/types.ts'
import type { EventType } from '../events/catalogue.ts'
import { attemptFilters, type Endpoint, type EndpointPayload } from '../events/endpoint.ts'
import { inWords, type Noun } from '../kernel/noun.ts'
import { QuittanceError } from '../kernel/errors.ts'
import {
  attemptNoun,
  createdEndpointView,
  endpointNoun as noun,
  endpointTestView,
  endpointView,
} from '../wire/endpoint.ts'
import { asksJson, found, printOne, printPage, printRows, queryOf } from './noun.ts'
import { withCore } from './open-core.ts'
import { print, printJson, visible } from './output.ts'

export interface EndpointOptions {
  readonly url?: string
  readonly name?: string
  readonly description?: string
  readonly type?: readonly EventType[]
  readonly gateway?: readonly string[]
  readonly payload?: EndpointPayload
  readonly maxConcurrency?: number
  readonly ratePerSecond?: number
  readonly timeoutSeconds?: number
  readonly json?: boolean
}

const { id, name: calledSo, ...otherFacts } = noun.facts

const endpointNoun: Noun<Endpoint> = {
  ...noun,
  facts: { id, name: calledSo, state: inWords(stateOf), ...otherFacts },
  columns: ['name', 'state', 'behind', 'url'],
}

export async function list(command: Command): Promise<void> {
  const endpoints = await withCore((core) => core.endpoints.list())
  if (asksJson(command)) printJson({ data: endpoints.map(endpointView) })
  else if (endpoints.length === 0) print('No endpoints.')
  else await printRows(endpoints, endpointNoun)
}

/** `failing`: requests fail, and it is tried on. */
function stateOf({ enabled, disabledReason, failures }: Endpoint): string {
  if (!enabled) return `disabled (${disabledReason ?? 'operator'})`
  return failures > 0 ? `failing (${failures})` : 'enabled'
}

export async function show(name: string, command: Command): Promise<void> {
  const endpoint = found(await withCore((core) => core.endpoints.get(name)), 'endpoint', name)
  await printOne(endpoint, command, endpointNoun)
}

export async function create(name: string, command: Command): Promise<void> {
  const fields = fieldsOf(command.optsWithGlobals<EndpointOptions>())
  const input = { url: '', ...fields, name }
  await printCreated(await withCore((core) => core.endpoints.create(input)), command)
}

export async function update(name: string, command: Command): Promise<void> {
  const options = command.optsWithGlobals<EndpointOptions>()
  const renamed = options.name === undefined ? {} : { name: options.name }
  const changes = { ...fieldsOf(options), ...renamed }
  if (Object.keys(changes).length === 0) {
    throw new QuittanceError('usage', 'say what to change: see quittance endpoints update --help')
  }
  await changed(command, (core) => core.endpoints.update(name, changes))
}

function fieldsOf(options: EndpointOptions) {
  const { url, description, type: eventTypes, gateway: gateways, payload } = options
  const { maxConcurrency, ratePerSecond, timeoutSeconds } = options
  return {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...(eventTypes !== undefined && { eventTypes }),
    ...(gateways !== undefined && { gateways }),
    ...(payload !== undefined && { payload }),
    ...(maxConcurrency !== undefined && { maxConcurrency }),
    ...(ratePerSecond !== undefined && { ratePerSecond }),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
  }
}

export async function remove(name: string, command: Command): Promise<void> {
  const endpoint = await withCore(async (core) => {
    const was = await core.endpoints.get(name)
    await core.endpoints.remove(name)
    return was
  })
  if (asksJson(command)) printJson(endpoint && endpointView(endpoint))
  else print(`Deleted ${visible(name)}.`)
}

export async function rotateSecret(name: string, command: Command): Promise<void> {
  await printCreated(await withCore((core) => core.endpoints.rotateSecret(name)), command)
}

export async function enable(name: string, command: Command): Promise<void> {
  const { from } = command.optsWithGlobals<{ from?: 'end' }>()
  await changed(command, (core) => core.endpoints.enable(name, { from }))
}

export async function disable(name: string, command: Command): Promise<void> {
  await changed(command, (core) => core.endpoints.disable(name))
}

export async function replay(name: string, command: Command): Promise<void> {
  const { after, since } = command.optsWithGlobals<{ after?: string; since?: Date }>()
  if ((after === undefined) === (since === undefined)) {
    throw new QuittanceError('usage', 'give --after or --since, and not both')
  }
  await changed(command, (core) => core.endpoints.replay(name, { after, since }))
}

async function changed(
  command: Command,
  change: (core: BillingCore) => Promise<Endpoint>,
): Promise<void> {
  await printOne(await withCore(change), command, endpointNoun)
}

export async function resend(
  { name, event }: { readonly name: string; readonly event: string },
  command: Command,
): Promise<void> {
  await withCore((core) => core.endpoints.resend(name, event))
  if (asksJson(command)) printJson({ endpoint: name, event_id: event })
  else print(visible(`Event ${event} is sent to ${name} again.`))
}

export async function test(name: string, command: Command): Promise<void> {
  const sent = await withCore((core) => core.endpoints.test(name))
  if (sent.result !== 'delivered') process.exitCode = 1
  if (asksJson(command)) {
    printJson(endpointTestView(sent))
    return
  }
  const answer = sent.status === null ? 'no answer' : `status ${sent.status}`
  print(`${sent.result}: ${answer} after ${sent.durationMs} ms`)
  if (sent.response !== null) print(visible(sent.response))
}

export async function attempts(name: string, command: Command): Promise<void> {
  const page = await withCore(async (core) =>
    core.endpoints.attempts(name, await queryOf(core, command, attemptFilters)),
  )
  await printPage(page, command, attemptNoun)
}

async function printCreated(created: CreatedEndpoint, command: Command): Promise<void> {
  if (asksJson(command)) {
    printJson(createdEndpointView(created))
    return
  }
  await printOne(created.endpoint, command, endpointNoun)
  print(`secret      ${created.secret}`)
  print('The secret is shown this once: keep it where the receiver reads it.')
}
