import type { ListedGateway } from '../../billing/list-gateways.ts'
import { processSettings } from '../../billing/process-settings.ts'
import { settingsIn, variablesOf } from '../../billing/setting.ts'
import type { Credentials } from '../../gateways/credential-fields.ts'
import { credentialWarnings, readCredentials } from '../../gateways/credentials.ts'
import type { Gateway } from '../../gateways/gateway.ts'
import { sharedSecrets } from '../../gateways/shared-secrets.ts'
import type { InspectedConfiguration } from '../env.ts'
import { type Fault, type Finding, error, ok, warning } from './finding.ts'
import type { Installation } from './installation.ts'

/** How a secret can be wrong: mistakes in copying, or in a deployment. */
const faults: readonly (readonly [pattern: RegExp, Fault])[] = [
  [
    /^\s*(?:undefined|null)\s*$/,
    {
      found: 'holds the word undefined or null: it counts as not set',
      fix: 'Find out what should fill it in; give it the value.',
    },
  ],
  [
    /^\s*(["'`])[^]*\1\s*$/,
    { found: 'begins and ends with quotes, which count as part of it', fix: 'Take them off.' },
  ],
  [/\S\s*(?:[\r\n]|\\n)\s*\S/, { found: 'has a line break in it', fix: 'Write it as one line.' }],
  [
    /[^\s,]\s+[^\s,]/,
    { found: 'has white space in it', fix: 'Copy it again; separate several by commas.' },
  ],
]

/** Never shows a value. */
export function checkSecrets(installation: Installation): readonly Finding[] {
  const { gateways, inspected, production } = installation
  const findings = [
    ...ownSecrets(inspected).flatMap(checkText),
    ...checkShared(installation),
    ...gateways.flatMap((listed) => {
      const texts = gatewaySecrets(listed, inspected)
      const blank = production ? texts.filter(({ text }) => text.trim() === '') : []
      const looks = [...texts.flatMap(checkText), ...blank.map(blankFinding)]
      return looks.concat(checkCredentials(listed, installation))
    }),
  ]
  return findings.length > 0 ? findings : [ok('secrets', 'none looks wrong')]
}

function checkText({ label, text }: SecretText): readonly Finding[] {
  const [, fault] = faults.find(([pattern]) => pattern.test(text)) ?? []
  if (fault === undefined) return []
  return [error('secrets', { found: `${label} ${fault.found}`, fix: fault.fix })]
}

/** Only in production: files copied from the example have blank lines for what is not needed. */
function blankFinding({ label }: SecretText): Finding {
  const fix = 'Give it the value, or unset it.'
  return warning('secrets', { found: `${label} is set, but blank`, fix })
}

function checkCredentials(listed: ListedGateway, installation: Installation): readonly Finding[] {
  const { gateway } = listed
  const credentials = credentialsOf(listed, installation)
  if (credentials === undefined) return []
  const short = credentialWarnings(gateway, credentials).map((found) =>
    warning('secrets', { found, fix: 'Copy the whole value from the gateway.' }),
  )
  return [...short, ...checkMode(gateway, credentials, installation.production)]
}

/** Undefined if a setting is invalid: another check reports that. */
function credentialsOf(
  { gateway, config }: ListedGateway,
  { inspected, production }: Installation,
): Credentials | undefined {
  const { environment } = inspected.configuration.options
  try {
    return readCredentials(gateway, environment, { production, config })
  } catch {
    return undefined
  }
}

/** Each callback then comes to all of them, and all but one ignore it. */
function checkShared({ checked }: Installation): readonly Finding[] {
  if ('fault' in checked) return []
  return sharedSecrets(checked.value.gateways).map(({ names, field }) =>
    warning('secrets', {
      found: `${names.join(' and ')} have the same ${field}: they are one account, and get each other’s callbacks`,
      fix: 'Give each its own, or keep one of them.',
    }),
  )
}

function checkMode(
  gateway: Gateway,
  credentials: Credentials,
  production: boolean,
): readonly Finding[] {
  const { live } = gateway.account(credentials)
  // A gateway without signatures has no keys to judge by.
  if (gateway.verification === 'none' || live === null || live === production) return []
  const fault = live
    ? {
        found: `${gateway.name} has a live key outside of production: real money moves`,
        fix: 'Use a test key here, or set NODE_ENV=production.',
      }
    : {
        found: `${gateway.name} has a test key in production: nobody really pays`,
        fix: 'Use the live key, or leave NODE_ENV=production to the live system.',
      }
  return [warning('secrets', fault)]
}

/** A secret exactly as set, and where. */
interface SecretText {
  readonly label: string
  readonly text: string
}

const tokenVariables = settingsIn(processSettings)
  .filter(({ setting }) => setting.secret)
  .flatMap(variablesOf)

/** The secrets of a gateway, from its variables and from the configuration file. */
function gatewaySecrets(
  { gateway: { name: gateway, credentials }, config }: ListedGateway,
  { variables }: InspectedConfiguration,
): readonly SecretText[] {
  const secrets = Object.entries(credentials).filter(([, field]) => field.secret)
  const inVariables = secrets.flatMap(([, { env }]) => env)
  return [
    ...inVariables.map((label) => ({ label, text: variables[label] })),
    ...secrets.map(([name]) => ({ label: `gateways.${gateway}.${name}`, text: config[name] })),
  ].flatMap(({ label, text }) => (text === undefined ? [] : [{ label, text }]))
}

function ownSecrets({ variables }: InspectedConfiguration): readonly SecretText[] {
  return tokenVariables.flatMap((label) => {
    const text = variables[label]
    return text === undefined ? [] : [{ label, text }]
  })
}
