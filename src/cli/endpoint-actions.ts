import type { Command } from 'commander'
import type { CreatedEndpoint } from '../billing/endpoint-types.ts'
import type { BillingCore } from '../billing/types.ts'
import type { Endpoint } from '../events/endpoint.ts'
import { counted } from '../kernel/counted.ts'
import { QuittanceError } from '../kernel/errors.ts'
import {
  createdEndpointView,
  endpointTestView,
  endpointView,
  forwardAttemptView,
} from '../wire/endpoint.ts'
import { pageView } from '../wire/page.ts'
import type { EndpointOptions } from './commands/endpoints.ts'
import { withCore } from './open-core.ts'
import { print, printJson, printTable, shortTime, visible } from './output.ts'
import type { PagingOptions } from './paging.ts'

interface Json {
  readonly json?: boolean
}

export async function list(command: Command): Promise<void> {
  const endpoints = await withCore((core) => core.endpoints.list())
  if (isJson(command)) printJson({ data: endpoints.map(endpointView) })
  else if (endpoints.length === 0) print('No endpoints.')
  else {
    const rows = endpoints.map((one) => [one.name, stateOf(one), String(one.behind), one.url])
    printTable({ headings: ['name', 'state', 'behind', 'url'], rows })
  }
}

/** `failing`: requests fail, and it is tried on. */
function stateOf({ enabled, disabledReason, failures }: Endpoint): string {
  if (!enabled) return `disabled (${disabledReason ?? 'operator'})`
  return failures > 0 ? `failing (${failures})` : 'enabled'
}

export async function show(name: string, command: Command): Promise<void> {
  const endpoint = await withCore((core) => core.endpoints.get(name))
  if (endpoint === undefined) {
    throw new QuittanceError('endpoint_not_found', `there is no endpoint ${JSON.stringify(name)}`)
  }
  printEndpoint(endpoint, command)
}

export async function create(name: string, command: Command): Promise<void> {
  const fields = fieldsOf(command.optsWithGlobals<EndpointOptions>())
  const input = { url: '', ...fields, name }
  printCreated(await withCore((core) => core.endpoints.create(input)), command)
}

export async function update(name: string, command: Command): Promise<void> {
  const options = command.optsWithGlobals<EndpointOptions>()
  const renamed = options.name === undefined ? {} : { name: options.name }
  const changes = { ...fieldsOf(options), ...renamed }
  if (Object.keys(changes).length === 0) {
    throw new QuittanceError('usage', 'say what to change: see quittance endpoints update --help')
  }
  printEndpoint(await withCore((core) => core.endpoints.update(name, changes)), command)
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
    const found = await core.endpoints.get(name)
    await core.endpoints.remove(name)
    return found
  })
  if (isJson(command)) printJson(endpoint && endpointView(endpoint))
  else print(`Deleted ${visible(name)}.`)
}

export async function rotateSecret(name: string, command: Command): Promise<void> {
  printCreated(await withCore((core) => core.endpoints.rotateSecret(name)), command)
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
  printEndpoint(await withCore(change), command)
}

export async function resend(
  { name, event }: { readonly name: string; readonly event: string },
  command: Command,
): Promise<void> {
  await withCore((core) => core.endpoints.resend(name, event))
  if (isJson(command)) printJson({ endpoint: name, event_id: event })
  else print(visible(`Event ${event} is sent to ${name} again.`))
}

export async function test(name: string, command: Command): Promise<void> {
  const sent = await withCore((core) => core.endpoints.test(name))
  if (sent.result !== 'delivered') process.exitCode = 1
  if (isJson(command)) {
    printJson(endpointTestView(sent))
    return
  }
  const answer = sent.status === null ? 'no answer' : `status ${sent.status}`
  print(`${sent.result}: ${answer} after ${sent.durationMs} ms`)
  if (sent.response !== null) print(visible(sent.response))
}

export async function attempts(name: string, command: Command): Promise<void> {
  const { limit, cursor, event } = command.optsWithGlobals<PagingOptions & { event?: string }>()
  const query = {
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
    ...(event !== undefined && { eventId: event }),
  }
  const page = await withCore((core) => core.endpoints.attempts(name, query))
  if (isJson(command)) printJson(pageView(page, forwardAttemptView))
  else if (page.data.length === 0) print('No attempts.')
  else {
    const rows = page.data.map((one) => [
      one.eventId,
      one.attempt === 0 ? 'probe' : String(one.attempt),
      one.result,
      one.status === null ? '' : String(one.status),
      `${one.durationMs} ms`,
      shortTime(one.at),
    ])
    const notes = page.data.map(({ response }) => [response ?? ''])
    printTable({
      headings: ['event', 'attempt', 'result', 'status', 'took', 'time (UTC)'],
      rows,
      notes: { headings: ['response'], rows: notes },
    })
    if (page.nextCursor !== null) print(`more: --cursor ${page.nextCursor}`)
  }
}

function isJson(command: Command): boolean {
  return command.optsWithGlobals<Json>().json === true
}

function printCreated(created: CreatedEndpoint, command: Command): void {
  if (isJson(command)) {
    printJson(createdEndpointView(created))
    return
  }
  printEndpoint(created.endpoint, command)
  print(`secret      ${created.secret}`)
  print('The secret is shown this once: keep it where the receiver reads it.')
}

function printEndpoint(endpoint: Endpoint, command: Command): void {
  const view = endpointView(endpoint)
  if (isJson(command)) {
    printJson(view)
    return
  }
  const rate = view.rate_per_second === null ? '' : `, ${view.rate_per_second} a second`
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['endpoint', view.id],
    ['name', view.name],
    ['state', stateOf(endpoint)],
    ['source', view.source],
    ['url', view.url],
    ['description', view.description],
    ['events', view.event_types?.join(', ')],
    ['gateways', view.gateways?.join(', ')],
    ['payload', view.payload],
    ['at once', `${counted(view.max_concurrency, 'request')}${rate}`],
    ['timeout', `${view.timeout_seconds} s`],
    ['position', String(view.position)],
    ['failing', view.failing_since && `since ${view.failing_since}`],
    ['next', view.next_at],
    ['disabled', view.disabled_at],
    ['created', view.created_at],
  ]
  for (const [name, value] of facts) {
    if (value != null) print(visible(`${name.padEnd(12)}${value}`))
  }
}
