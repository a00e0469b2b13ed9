import { requireGateway } from '../gateways/require.ts'
import { signerOf } from '../gateways/sign-callback.ts'
import { withSettings } from './with-settings.ts'

/** What each scenario of a gateway shows. */
export function listScenarios(nameOrAlias: string): Promise<Readonly<Record<string, string>>> {
  return withSettings(({ gateways }) => {
    const { gateway } = requireGateway(gateways, nameOrAlias)
    const scenarios = Object.entries(signerOf(gateway).scenarios)
    return Object.fromEntries(scenarios.map(([name, { shows }]) => [name, shows]))
  })
}
