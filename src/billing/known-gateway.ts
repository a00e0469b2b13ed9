import { unknownGateway } from '../gateways/require.ts'
import type { BillingCore } from './types.ts'

/** Rows carry the canonical name; callers may use an alias. Error: `gateway_unknown`. */
export function knownGateway(
  core: Pick<BillingCore, 'gatewayName' | 'gateways'>,
  nameOrAlias: string,
): string {
  const name = core.gatewayName(nameOrAlias)
  if (name !== undefined) return name
  throw unknownGateway(nameOrAlias, Object.keys(core.gateways()))
}

/** What people call a gateway; the name itself of one that this process has not. */
export function gatewayTitleOf(core: Pick<BillingCore, 'gateways'>, name: string): string {
  return core.gateways()[name]?.title ?? name
}
