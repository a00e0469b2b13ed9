import type { Gateway } from '../../gateways/gateway.ts'
import { variableNames } from '../read-variables.ts'
import type { Secret } from '../../kernel/secret.ts'
import { similarName } from '../../kernel/similar-name.ts'
import { configuredNames, type Installation } from './installation.ts'
import { ok, skipped, thrown, warning, type Finding } from './finding.ts'

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
    ...checkEnvFile(installation),
    ...checkToken(installation),
    ...checkReadToken(installation),
    ...checkGateways(installation),
  ]
}

/** A `.env` may hold settings of others; a name close to one of ours is a slip. */
function checkEnvFile({ inspected, gateways }: Installation): readonly Finding[] {
  if (inspected.envFile === undefined) return []
  const ofGateways = gateways.flatMap(({ gateway: { credentials } }) =>
    Object.values(credentials).flatMap(({ env }) => env),
  )
  const known = new Set([...variableNames, ...ofGateways])
  const others = inspected.envFile.filter((name) => !known.has(name))
  const slips = others.flatMap((name) => {
    const meant = similarName(name, known)
    return meant === undefined ? [] : [{ name, meant }]
  })
  if (slips.length === 0) {
    return [ok('env_file', others.length === 0 ? 'read' : `not read: ${others.join(', ')}`)]
  }
  return slips.map(({ name, meant }) =>
    warning('env_file', {
      found: `.env names ${name}, which nobody reads`,
      fix: `Did you mean ${meant}?`,
    }),
  )
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
      found: 'BILLING_READ_TOKEN is the same as BILLING_API_TOKEN: whoever reads may also refund',
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
  const configured = (name: string) => ok('gateways', `${name} is configured`)
  const signed = configuredNames(registry, 'signature')
  const open = configuredNames(registry, 'none')
  if (!production) return [...signed, ...open].map(configured)
  const none = warning('gateways', {
    found: 'no gateway is configured: every callback is refused',
    fix: 'Set the credentials that `quittance gateways` names.',
  })
  return [
    ...(signed.length === 0 ? [none] : signed.map(configured)),
    ...gateways
      .filter(({ gateway }) => open.includes(gateway.name))
      .map(({ gateway }) => openInProduction(gateway)),
  ]
}

function openInProduction({ name, credentials }: Gateway): Finding {
  const switches = Object.values(credentials).flatMap(({ env }) => env.slice(0, 1))
  return warning('gateways', {
    found: `${name} is on in production: anybody can settle its payments`,
    fix: `Unset ${switches.join(', ')}.`,
  })
}
