import { parseSecrets, secret, type Secret } from '../kernel/secret.ts'
import type { Values } from './check-values.ts'
import type { ListedGateway } from './list-gateways.ts'
import { settingsIn, variablesOf } from './setting.ts'
import { optionSettings, variableSettings } from './settings-schema.ts'
import { valueAt } from './shown-settings.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The token of a run in development, which the supervisor sets. */
const runToken = 'QUITTANCE_RUN_TOKEN'

/**
 * Of every setting that is marked as secret, as an option or as a variable. Gateways and declared
 * endpoints are objects: those who read them know which of their fields are secret.
 */
export function settingSecrets(values: Values, environment: Environment): readonly Secret[] {
  const options = settingsIn(optionSettings).filter(({ setting }) => setting.secret)
  const variables = settingsIn(variableSettings).filter(({ setting }) => setting.secret)
  const texts: readonly unknown[] = [
    ...options.map(({ path }) => valueAt(values, path)),
    ...[...variables.flatMap(variablesOf), runToken].map((name) => environment[name]),
  ]
  return texts.flatMap((text) => (typeof text === 'string' ? secretsIn(text) : []))
}

/** In all its variables: one that another wins over is a secret, too. */
export function gatewaySecrets(
  { gateway, config }: ListedGateway,
  environment: Environment,
): readonly Secret[] {
  const fields = Object.entries(gateway.credentials).filter(([, field]) => field.secret)
  return fields.flatMap(([name, { env }]) =>
    [config[name], ...env.map((variable) => environment[variable])].flatMap(parseSecrets),
  )
}

const urlWithPassword = /^[\w+.-]+:\/\/([^:@/?#]*):([^@/?#]*)@/
const passwordInQuery = /[?&]password=([^&#]*)/

/** The whole text, the parts between its commas, and the password of a URL. */
function secretsIn(text: string): readonly Secret[] {
  const whole = text.trim()
  if (!whole.includes('://')) return [whole, ...whole.split(',')].flatMap(parseSecrets)
  const [, user, password = ''] = urlWithPassword.exec(whole) ?? []
  const [, inQuery = ''] = passwordInQuery.exec(whole) ?? []
  // One that is the name of its user protects nothing, and that name is in many texts.
  const passwords = [password, inQuery].filter((one) => one !== '' && one !== user)
  return [whole, ...passwords, ...passwords.map(decoded)].map((one) => secret(one))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
