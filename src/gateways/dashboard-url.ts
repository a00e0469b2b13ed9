import type { Payment } from '../payments/payment.ts'
import type { Registry } from './registry.ts'

/**
 * Where a person sees the payment at its provider; nothing but a page over TLS is taken for one. A
 * gateway of somebody's own that throws knows none: the payment can be looked at all the same.
 */
export function dashboardUrlOf(
  gateways: Pick<Registry, 'find'>,
  payment: Payment,
): string | undefined {
  try {
    const given = gateways.find(payment.gateway)?.gateway.dashboardUrl?.(payment)
    const url = given === undefined ? null : URL.parse(given)
    return url?.protocol === 'https:' ? url.href : undefined
  } catch {
    return undefined
  }
}
