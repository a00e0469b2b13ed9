import type { Gateway } from '../../gateways/gateway.ts'
import { variableNames } from '../env.ts'
import { configuredNames, type Subject } from './subject.ts'
import { ok, skipped, thrown, warning, type Finding } from './finding.ts'

const shortestToken = 16
const fix = 'Correct the named setting; docs/configuration.md describes it.'

/** Readable, valid, and wise together. */
export function checkSettings(subject: Subject): readonly Finding[] {
  const { inspected, checked } = subject
  const faults = [...inspected.faults, ...('fault' in checked ? [checked.fault] : [])]
  const places = ['the environment', ...envFile(subject), inspected.configFile ?? []].flat()
  return [
    ...(faults.length === 0
      ? [ok('settings', `read from ${places.join(', ')}`)]
      : faults.map((fault) => thrown('settings', fault, fix))),
    ...checkToken(subject),
    ...checkGateways(subject),
  ]
}

/** With what it holds for others, where a misspelt name would be. */
function envFile({ inspected, gateways }: Subject): readonly string[] {
  if (inspected.envFile === undefined) return []
  const ofGateways = gateways.flatMap(({ credentials }) =>
    Object.values(credentials).flatMap(({ env }) => env),
  )
  const known = new Set([...variableNames, ...ofGateways])
  const others = inspected.envFile.filter((name) => !known.has(name))
  return [others.length === 0 ? '.env' : `.env (not read from it: ${others.join(', ')})`]
}

function checkToken({ inspected, production }: Subject): readonly Finding[] {
  const { apiToken } = inspected.settings
  if (apiToken === undefined) {
    const found = production ? 'unset: the management API is off' : 'unset: made for each run'
    return [ok('api_token', found)]
  }
  if (apiToken.length >= shortestToken) return [ok('api_token', 'set')]
  return [
    warning('api_token', {
      found: `BILLING_API_TOKEN is shorter than ${shortestToken} characters: it can be guessed`,
      fix: 'Make one with: openssl rand -base64 24',
    }),
  ]
}

function checkGateways({ checked, production, gateways }: Subject): readonly Finding[] {
  if ('fault' in checked) return [skipped('gateways', 'the settings are wrong')]
  const registry = checked.value.gateways
  const configured = (name: string) => ok('gateways', `${name} is configured`)
  const signed = configuredNames(registry, 'signature')
  const open = configuredNames(registry, 'none')
  if (!production) return [...signed, ...open].map(configured)
  const none = warning('gateways', {
    found: 'no gateway is configured: every callback is turned away',
    fix: 'Set the credentials that `quittance gateways` names.',
  })
  return [
    ...(signed.length === 0 ? [none] : signed.map(configured)),
    ...gateways.filter(({ name }) => open.includes(name)).map(openInProduction),
  ]
}

function openInProduction({ name, credentials }: Gateway): Finding {
  const switches = Object.values(credentials).flatMap(({ env }) => env.slice(0, 1))
  return warning('gateways', {
    found: `${name} is on in production: anybody can settle its payments`,
    fix: `Unset ${switches.join(', ')}.`,
  })
}
