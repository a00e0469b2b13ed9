import { lackingCredentials } from '../gateways/lacking-credentials.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { lackingCredential } from '../gateways/require.ts'

/** Whether a gateway can do all that it is there for, and if not, which variables change that. */
export function gatewayState(found: RegisteredGateway): string {
  const { gateway, credentials } = found
  if (credentials.configured) {
    const lacking = lackingCredential(found)
    return lacking === undefined
      ? 'configured'
      : `takes callbacks; without ${lacking} its provider is not asked`
  }
  const lacking = lackingCredentials(found).join(', ')
  return gateway.verification === 'none'
    ? `off; ${lacking} turns it on`
    : `not configured: set ${lacking}`
}
