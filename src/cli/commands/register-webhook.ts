import type { Command } from 'commander'
import type { BillingCore, RegistrationResult } from '../../billing/types.ts'
import { builtinSummaries, type GatewaySummary } from '../../gateways/builtin-summaries.ts'
import { driverOf } from '../../gateways/accounts.ts'
import type { Gateway } from '../../gateways/gateway.ts'
import type { RegisteredEndpoint, Registration } from '../../gateways/operations.ts'
import { requireGateway } from '../../gateways/require.ts'
import type { Registry } from '../../gateways/registry.ts'
import { isQuittanceError, QuittanceError } from '../../kernel/errors.ts'
import { errorView } from '../describe-error.ts'
import { addExamples } from '../examples.ts'
import { printJson, visible } from '../output.ts'
import { registerCommand, registerLine } from '../registered-endpoint.ts'

interface RegisterOptions {
  /** One of its accounts. */
  readonly gateway?: string
  readonly removeOrphans?: boolean
  readonly json?: boolean
}

type Registrable = Gateway & { readonly registration: Registration }

/** One command for each gateway whose provider must have the callback URL registered. */
export function addRegisterWebhooks(program: Command): void {
  for (const gateway of builtinSummaries) {
    if (gateway.registration) addRegisterWebhook(program, gateway)
  }
}

function addRegisterWebhook(program: Command, { name, aliases, title }: GatewaySummary): void {
  const command = registerCommand(name)
  const others = aliases.map(registerCommand)
  const also = others.length === 0 ? '' : ` (also ${others.join(', ')})`
  const registerWebhook = program
    .command(command)
    .aliases(others)
    .description(`register the callback URL with ${title}${also}`)
    .option('--gateway <name>', `of this account of ${title} (default: of ${name})`)
    .option('--remove-orphans', 'remove endpoints that are left over from another URL')
    .action((_options: unknown, self: Command) => register(name, self))
  addExamples(registerWebhook, [
    [command, 'at any time'],
    [`${command} --remove-orphans`, 'after a new URL'],
    [`${command} --gateway ${name}-eu`, 'for an account'],
  ])
}

async function register(name: string, command: Command): Promise<void> {
  const options = command.optsWithGlobals<RegisterOptions>()
  const { json = false, removeOrphans = false } = options
  const { withCore } = await import('../open-core.ts')
  const print = await import('../print-registration.ts')
  await withCore(async (core, { configuration, runtime, warnAbout }) => {
    const gateway = registrableIn(runtime.settings.gateways, name, options.gateway)
    warnAbout(gateway.name)
    const result = await registered(core, gateway)
    const variable = secretVariable(gateway, configuration.options.environment)
    const configured = core.gateways()[gateway.name]?.configured === true
    const removed: string[] = []
    const viewed = { gateway, variable, removed }
    // Before anything that may fail: a secret is shown only once.
    if (!json) print.printRegistration(result, { gateway, variable, configured })
    try {
      for (const { id, url } of result.orphans) {
        const isWanted = removeOrphans || (!json && (await isConfirmed(`Remove ${id}, ${url}?`)))
        if (!isWanted) continue
        await core.registration.remove(gateway.name, [id])
        removed.push(id)
      }
    } catch (error) {
      if (!json) throw error
      // The result holds a secret that is shown only once, so the error goes along.
      process.exitCode = 1
      printJson({ ...registrationView(result, viewed), error: errorView(error) })
      return
    }
    if (json) printJson(registrationView(result, viewed))
    else print.printRemoved(result, { removed, command: registerLine(gateway) })
  })
}

/** The gateway of the command, or the account of it that is named. */
function registrableIn(gateways: Registry, driver: string, account = driver): Registrable {
  const { gateway } = requireGateway(gateways, account)
  if (driverOf(gateway) === driver && isRegistrable(gateway)) return gateway
  throw new QuittanceError('usage', `${gateway.name} is no account of ${driver}`, {
    fix: `Name one of ${driver}; quittance gateways shows them.`,
  })
}

function isRegistrable(gateway: Gateway): gateway is Registrable {
  return gateway.registration !== undefined
}

async function registered(core: BillingCore, gateway: Registrable): Promise<RegistrationResult> {
  try {
    return await core.registration.register(gateway.name)
  } catch (error) {
    // The reason may be something that the provider cannot do.
    if (isQuittanceError(error) && error.code === 'provider_refused') {
      for (const note of gateway.registration.notes) process.stderr.write(`${note}\n`)
    }
    throw error
  }
}

/** Where the secret is, or belongs: of two names, the one in use. */
function secretVariable(
  { credentials, registration }: Registrable,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const names = credentials[registration.secretField]?.env ?? []
  return names.find((name) => environment[name] !== undefined) ?? names[0] ?? ''
}

/** Asked only if somebody is there to answer. */
async function isConfirmed(message: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await new Promise<string>((answered) => {
    // The end of the input means no.
    lines.once('close', () => answered(''))
    lines.question(`${visible(message)} (y/N) `, answered)
  })
  lines.close()
  return /^y(?:es)?$/i.test(answer.trim())
}

interface Viewed {
  readonly gateway: Registrable
  readonly variable: string
  readonly removed: readonly string[]
}

function registrationView(result: RegistrationResult, { gateway, variable, removed }: Viewed) {
  const { action, url, endpoint, secret, secretIsConfigured } = result
  return {
    gateway: gateway.name,
    action,
    url,
    endpoint: endpointView(endpoint),
    signing_secret: secret?.reveal() ?? null,
    secret_variable: variable,
    secret_is_configured: secretIsConfigured ?? null,
    orphans: result.orphans.map(endpointView),
    removed,
    notes: gateway.registration.notes,
  }
}

function endpointView({ id, url, events, enabled, apiVersion }: RegisteredEndpoint) {
  return { id, url, events, enabled, api_version: apiVersion }
}
