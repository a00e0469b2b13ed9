import type { RegistrationResult } from '../billing/types.ts'
import { titleWithName } from '../gateways/accounts.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { RegisteredEndpoint } from '../gateways/operations.ts'
import { counted } from '../kernel/counted.ts'
import { assertNever } from '../kernel/errors.ts'
import { print, styled, visible, wrapped } from './output.ts'
import { faultText } from '../upkeep/endpoint-fault-text.ts'

interface Shown {
  readonly gateway: Gateway
  /** Where the secret of the endpoint is read from. */
  readonly variable: string
  /** Whether a secret is set already. */
  readonly configured: boolean
}

/** What was registered, and what is left to do. */
export function printRegistration(result: RegistrationResult, shown: Shown): void {
  const { endpoint, orphans } = result
  paragraph(actionText(result, shown))
  print(`  url      ${result.url}`)
  print(`  events   ${endpoint.events.length}, exactly those that are handled`)
  if (endpoint.apiVersion !== null) print(`  version  ${visible(endpoint.apiVersion)}`)
  print()
  printSecret(result, shown)
  print()
  const notes = shown.gateway.registration?.notes ?? []
  for (const note of notes) list(note)
  if (orphans.length === 0) return
  print()
  paragraph('Probably left over from an earlier URL, path or version:')
  for (const orphan of orphans) list(orphanText(orphan, result.url))
}

function actionText({ action, endpoint, own }: RegistrationResult, { gateway }: Shown): string {
  const { id } = endpoint
  const faults = own[0]?.faults.map(faultText).join('; ') ?? ''
  switch (action) {
    case 'created':
      return `${titleWithName(gateway)} has a new endpoint, ${id}.`
    case 'updated':
      return `Endpoint ${id} of ${titleWithName(gateway)} was updated. Before: ${faults}.`
    case 'replaced':
      return `${titleWithName(gateway)} has a new endpoint, ${id}. The old one: ${faults}.`
    case 'unchanged':
      return `Endpoint ${id} of ${titleWithName(gateway)} is as it should be.`
    default:
      return assertNever(action)
  }
}

function printSecret(result: RegistrationResult, { gateway, variable, configured }: Shown): void {
  const { secret, secretIsConfigured } = result
  if (secret !== undefined) {
    paragraph('Its signing secret, shown this once. The line for .env, or for the environment:')
    print()
    print(`  ${styled('bold', `${variable}=${visible(secret.reveal())}`)}`)
    print()
    paragraph('Then restart the service and the workers.')
    if (!configured) return
    paragraph(
      'It takes the place of the one that is set now. As long as another endpoint still sends, ' +
        'keep that one behind it, after a comma.',
    )
    return
  }
  if (secretIsConfigured === true) return paragraph(`${variable} has its signing secret.`)
  const where = `Copy it from the dashboard of ${titleWithName(gateway)}, and restart the service and the workers.`
  if (!configured) return paragraph(`${variable} is not set: no callback is taken. ${where}`)
  paragraph(
    secretIsConfigured === false
      ? `${variable} has another secret: the callbacks of this endpoint are refused. ${where}`
      : `Whether ${variable} has its signing secret, ${titleWithName(gateway)} does not tell.`,
  )
}

function orphanText({ id, url, events, enabled }: RegisteredEndpoint, ours: string): string {
  const state = `${counted(events.length, 'event')}, ${enabled ? 'on' : 'off'}`
  const twice = url === ours ? '; every event comes twice' : ''
  return `${id}  ${url}  (${state}${twice})`
}

interface Removed {
  readonly removed: readonly string[]
  readonly command: string
}

/** What became of the orphans. */
export function printRemoved({ orphans }: RegistrationResult, { removed, command }: Removed): void {
  if (orphans.length === 0) return
  print()
  for (const id of removed) print(`Removed ${id}.`)
  if (removed.length === orphans.length) return
  paragraph(
    `What is left stays. Make sure that no other installation of yours uses it; then run: quittance ${command} --remove-orphans`,
  )
}

function paragraph(text: string): void {
  for (const line of wrapped(visible(text), 0)) print(line)
}

function list(text: string): void {
  const [first = '', ...rest] = wrapped(visible(text), 2)
  print(`- ${first}`)
  for (const line of rest) print(`  ${line}`)
}
