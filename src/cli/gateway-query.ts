import { knownGateway } from '../billing/known-gateway.ts'
import type { BillingCore } from '../billing/types.ts'

/** The query of an option that may be left out. */
export function gatewayQuery(
  core: BillingCore,
  nameOrAlias: string | undefined,
): { readonly gateway?: string } {
  return nameOrAlias === undefined ? {} : { gateway: knownGateway(core, nameOrAlias) }
}
