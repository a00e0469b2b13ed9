import {
  unreadAmong,
  unreadVariables,
  type UnreadVariable,
} from '../../billing/unread-variables.ts'
import type { Gateway } from '../../gateways/gateway.ts'
import { halfSet, halfSetText } from '../../gateways/lacking-credentials.ts'
import type { RegisteredGateway } from '../../gateways/registry.ts'
import { lackingCredential } from '../../gateways/require.ts'
import { variableNames } from '../read-variables.ts'
import type { Secret } from '../../kernel/secret.ts'
import { configuredNames, type Installation } from './installation.ts'
import { error, ok, skipped, thrown, warning, type Finding } from './finding.ts'

const shortestToken = 16
const fix = 'Correct the named setting; docs/configuration.md describes it.'

/** Whether they are readable, valid, and sensible together. */
export function checkSettings(installation: Installation): readonly Finding[] {
  const { inspected, checked } = installation
  const faults = new Set([...inspected.faults, ...('fault' in checked ? [checked.fault] : [])])
  const files = [inspected.envFile && '.env', inspected.configFile]
  const places = ['the environment', ...files.filter((file) => file !== undefined)]
  return [
    ...(faults.size === 0
      ? [ok('settings', `read from ${places.join(', ')}`)]
      : Array.from(faults, (fault) => thrown('settings', fault, fix))),
    ...checkNames(installation),
    ...checkToken(installation),
    ...checkReadToken(installation),
    ...checkGateways(installation),
  ]
}

/** There may be settings of others; a name that begins like ours, or is close to one, is a slip. */
function checkNames({ inspected, gateways }: Installation): readonly Finding[] {
  const { envFile, variables } = inspected
  const ofGateways = gateways.flatMap(({ gateway: { credentials } }) =>
    Object.values(credentials).flatMap(({ env }) => env),
  )
  const known = new Set([...variableNames, ...ofGateways])
  const inFile = envFile === undefined ? [] : unreadAmong(envFile, known)
  const elsewhere = unreadVariables(variables, known).filter(
    ({ name }) => envFile?.includes(name) !== true,
  )
  return [
    ...(envFile === undefined || inFile.length > 0 ? [] : [envFileRead(envFile, known)]),
    ...inFile.map((one) => unread('env_file', `.env names ${one.name}`, one)),
    ...elsewhere.map((one) => unread('environment', `${one.name} is set`, one)),
  ]
}

function envFileRead(names: readonly string[], known: ReadonlySet<string>): Finding {
  const others = names.filter((name) => !known.has(name))
  return ok('env_file', others.length === 0 ? 'read' : `not read: ${others.join(', ')}`)
}

function unread(check: string, what: string, { meant }: UnreadVariable): Finding {
  return warning(check, {
    found: `${what}, which nobody reads`,
    fix:
      meant === undefined
        ? 'If it was meant for Quittance, see the names in docs/configuration.md.'
        : `Did you mean ${meant}?`,
  })
}

const newToken = 'Make one with: openssl rand -base64 24'

function checkToken({ inspected, production }: Installation): readonly Finding[] {
  const { apiToken, readToken } = inspected.configuration
  if (apiToken !== undefined) return [checkLength('api_token', apiToken)]
  const others =
    readToken === undefined ? 'is for operators alone' : 'only reads, but for operators'
  const found = production ? `unset: the management API ${others}` : 'unset: made for each run'
  return [ok('api_token', found)]
}

/** Who has it may read; nobody need have it. */
function checkReadToken({ inspected }: Installation): readonly Finding[] {
  const { apiToken, readToken } = inspected.configuration
  if (readToken === undefined) return []
  const all = new Set(apiToken?.map((token) => token.reveal()))
  const isOfAll = readToken.some((token) => all.has(token.reveal()))
  if (!isOfAll) return [checkLength('read_token', readToken)]
  return [
    warning('read_token', {
      found:
        'BILLING_READ_TOKEN is the same as BILLING_API_TOKEN: a reader of the feed may also refund',
      fix: newToken,
    }),
  ]
}

function checkLength(check: 'api_token' | 'read_token', tokens: readonly Secret[]): Finding {
  const isLong = tokens.every((token) => token.reveal().length >= shortestToken)
  if (isLong) return ok(check, tokens.length === 1 ? 'set' : `${tokens.length} are set`)
  const found = `BILLING_${check.toUpperCase()} ${tokens.length === 1 ? 'is' : 'has one that is'} shorter than ${shortestToken} characters: it can be guessed`
  return warning(check, { found, fix: newToken })
}

function checkGateways({ checked, production, gateways }: Installation): readonly Finding[] {
  if ('fault' in checked) return [skipped('gateways', 'the settings are wrong')]
  const registry = checked.value.gateways
  const configured = (name: string) => {
    const found = registry.find(name)
    const lacking = found && lackingCredential(found)
    if (lacking === undefined) return ok('gateways', `${name} is configured`)
    return ok('gateways', `${name} takes callbacks; without ${lacking} its provider is not asked`)
  }
  const halves = registry.list().flatMap(checkHalf)
  const signed = configuredNames(registry, 'signature')
  const open = configuredNames(registry, 'none')
  if (!production) return [...[...signed, ...open].map(configured), ...halves]
  const none = warning('gateways', {
    found: 'no gateway is configured: every callback is refused',
    fix: 'Set the credentials that `quittance gateways` names.',
  })
  return [
    ...(signed.length === 0 ? [none] : signed.map(configured)),
    ...halves,
    ...gateways
      .filter(({ gateway }) => open.includes(gateway.name))
      .map(({ gateway }) => openInProduction(gateway)),
  ]
}

/** One whose secret comes with its registration is so for a while. */
function checkHalf(found: RegisteredGateway): readonly Finding[] {
  const half = halfSet(found)
  if (half === undefined) return []
  const { registration, credentials } = found.gateway
  const field = registration && credentials[registration.secretField]
  const awaited = half.lacks.length === 1 && half.lacks[0] === field?.env[0]
  const fault = {
    found: halfSetText(found, half),
    fix: awaited
      ? 'Register the callback URL, which yields it: docs/8-registration.md'
      : `Set ${half.lacks.join(', ')}, or take the rest out.`,
  }
  return [awaited ? warning('gateways', fault) : error('gateways', fault)]
}

function openInProduction({ name, credentials }: Gateway): Finding {
  const switches = Object.values(credentials).flatMap(({ env }) => env.slice(0, 1))
  return warning('gateways', {
    found: `${name} is on in production: anybody can settle its payments`,
    fix: `Unset ${switches.join(', ')}.`,
  })
}
