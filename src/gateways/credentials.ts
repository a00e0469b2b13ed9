import { QuittanceError } from '../kernel/errors.ts'
import { choiceAmong } from '../kernel/similar-name.ts'
import { parseSecrets, type Secret } from '../kernel/secret.ts'
import type { Gateway } from './gateway.ts'
import type { CredentialField, Credentials } from './credential-fields.ts'

export interface CredentialOptions {
  /** Production rules: `productionDefault` counts if a field has one. */
  readonly production: boolean
  /** Settings by field, e.g. `{ signing_secret: '...' }`; the environment wins. */
  readonly config?: Readonly<Record<string, string | undefined>>
}

export const notConfigured: Credentials = { secrets: {}, settings: {}, configured: false }

/** Secrets below this length can be guessed; they work, with a warning. */
const shortestSecret = 16

/**
 * Reads a gateway's settings from texts like environment variables. Blank texts and the words
 * `undefined` and `null` count as absent. Error: `setting_invalid` (never with the value of a
 * secret).
 */
export function readCredentials(
  gateway: Pick<Gateway, 'name' | 'credentials'>,
  values: Readonly<Record<string, string | undefined>>,
  options: CredentialOptions,
): Credentials {
  const config = new Map(Object.entries(options.config ?? {}))
  refuseUnknownFields(gateway, config)
  const secrets: Record<string, readonly Secret[]> = {}
  const settings: Record<string, string> = {}
  const present = new Set<string>()
  for (const [name, field] of Object.entries(gateway.credentials)) {
    const sources = [
      ...field.env.map((key): Source => ({ label: key, text: values[key] })),
      { label: `gateways.${gateway.name}.${name}`, text: config.get(name) },
    ]
    const found = sources.find((source) => parseSecrets(source.text).length > 0)
    if (options.production) refusePublicValue(field, found)
    if (field.secret) secrets[name] = parseSecrets(found?.text)
    const setting = field.secret ? undefined : readSetting(field, found, options.production)
    if (setting !== undefined) settings[name] = setting
    const isOff = field.isSwitch && setting === 'off'
    if (!isOff && (field.secret ? found : setting) !== undefined) present.add(name)
  }
  const configured = Object.entries(gateway.credentials).every(
    ([name, { required, requiredUnless = name }]) =>
      !required || present.has(name) || present.has(requiredUnless),
  )
  const fields = Object.entries(gateway.credentials)
  const variables = Object.fromEntries(fields.map(([name, { env }]) => [name, env[0] ?? name]))
  return { gateway: gateway.name, variables, secrets, settings, configured }
}

/** Anyone who knows a published value can sign. */
function refusePublicValue({ publicValues = [] }: CredentialField, source?: Source): void {
  const values = parseSecrets(source?.text).map((one) => one.reveal())
  if (source === undefined || !values.some((value) => publicValues.includes(value))) return
  throw new QuittanceError(
    'setting_invalid',
    `${source.label} is a public test value of the provider: with it anybody could sign`,
    { fix: 'Set the credentials of your own account.' },
  )
}

/**
 * What a gateway needs, as texts; `A or B` if one of two is enough. `label` names each setting: by
 * its usual variable unless given.
 */
export function neededCredentials(
  { credentials }: Pick<Gateway, 'credentials'>,
  label: (name: string, variable: string) => string = (_name, variable) => variable,
): readonly string[] {
  return Object.entries(credentials)
    .filter(([, { required }]) => required)
    .map(([name, { requiredUnless }]) =>
      [requiredUnless ?? [], name]
        .flat()
        .map((one) => label(one, credentials[one]?.env[0] ?? one))
        .join(' or '),
    )
}

/** What is unwise about the credentials, as sentences for the log; never with a secret. */
export function credentialWarnings(
  gateway: Pick<Gateway, 'name' | 'credentials'>,
  credentials: Credentials,
): readonly string[] {
  return Object.entries(credentials.secrets)
    .filter(([, secrets]) => secrets.some((one) => one.reveal().length < shortestSecret))
    .map(([name]) => {
      const label = gateway.credentials[name]?.env[0] ?? name
      return `${label} of gateway ${gateway.name} is shorter than ${shortestSecret} characters`
    })
}

interface Source {
  readonly label: string
  readonly text: string | undefined
}

function readSetting(
  field: CredentialField,
  source: Source | undefined,
  production: boolean,
): string | undefined {
  if (source === undefined) return defaultOf(field, production)
  const text = (source.text ?? '').trim()
  const fault = settingFault(field, text)
  if (fault === undefined) return text
  // Never the value itself: a secret may have been pasted into the wrong setting.
  throw new QuittanceError(
    'setting_invalid',
    `${source.label} must be ${fault}; what is set there (${text.length} characters) is not`,
  )
}

function defaultOf(field: CredentialField, production: boolean): string | undefined {
  return (production ? field.productionDefault : undefined) ?? field.default
}

/** What the setting should have been; undefined if it is correct. */
function settingFault(field: CredentialField, text: string): string | undefined {
  if (field.isSwitch) return text === 'on' || text === 'off' ? undefined : '`on` or `off`'
  return field.accepts === undefined || field.accepts.test(text)
    ? undefined
    : field.accepts.expected
}

function refuseUnknownFields(
  gateway: Pick<Gateway, 'name' | 'credentials'>,
  config: ReadonlyMap<string, string | undefined>,
): void {
  for (const [name, value] of config) {
    if (!Object.hasOwn(gateway.credentials, name)) {
      const choice = choiceAmong(name, Object.keys(gateway.credentials))
      throw new QuittanceError(
        'setting_invalid',
        `gateways.${gateway.name}.${name} is no setting of this gateway${choice}`,
      )
    }
    if (value !== undefined && typeof value !== 'string') {
      throw new QuittanceError(
        'setting_invalid',
        `gateways.${gateway.name}.${name} must be a text, got ${typeof value}`,
      )
    }
  }
}
