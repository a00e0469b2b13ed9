import type { ListedGateway } from '../../billing/list-gateways.ts'
import { processSettings } from '../../billing/process-settings.ts'
import { settingsIn, variablesOf } from '../../billing/setting.ts'
import type { InspectedConfiguration } from '../env.ts'

/** A secret exactly as set, and where. */
export interface SecretText {
  readonly label: string
  readonly text: string
}

const tokenVariables = settingsIn(processSettings)
  .filter(({ setting }) => setting.secret)
  .flatMap(variablesOf)

/** The secrets of a gateway, from its variables and from the configuration file. */
export function gatewaySecrets(
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

export function ownSecrets({ variables }: InspectedConfiguration): readonly SecretText[] {
  return tokenVariables.flatMap((label) => {
    const text = variables[label]
    return text === undefined ? [] : [{ label, text }]
  })
}
