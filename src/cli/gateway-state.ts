import { neededCredentials } from '../gateways/credentials.ts'
import type { Gateway } from '../gateways/gateway.ts'

/** Whether a gateway's callbacks are taken, and if not, which variables change that. */
export function gatewayState(gateway: Gateway, configured: boolean): string {
  if (configured) return 'configured'
  const needed = neededCredentials(gateway).join(', ')
  return gateway.verification === 'none'
    ? `off; ${needed} turns it on`
    : `not configured: set ${needed}`
}
