import type { Gateway } from '../gateways/gateway.ts'

/** Whether a gateway's callbacks are taken, and if not, which variables change that. */
export function gatewayState(gateway: Gateway, configured: boolean): string {
  if (configured) return 'configured'
  const required = Object.values(gateway.credentials).flatMap((field) =>
    field.required ? field.env.slice(0, 1) : [],
  )
  return gateway.verification === 'none'
    ? `off; ${required.join(', ')} turns it on`
    : `not configured: set ${required.join(', ')}`
}
