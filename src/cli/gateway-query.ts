import type { BillingCore } from '../billing/types.ts'
import { QuittanceError } from '../kernel/errors.ts'

/** Rows carry the canonical name; a person may ask by an alias. */
export function gatewayQuery(
  core: BillingCore,
  nameOrAlias: string | undefined,
): { readonly gateway?: string } {
  return nameOrAlias === undefined ? {} : { gateway: knownGateway(core, nameOrAlias) }
}

export function knownGateway(core: BillingCore, nameOrAlias: string): string {
  const name = core.gatewayName(nameOrAlias)
  if (name !== undefined) return name
  throw new QuittanceError('gateway_unknown', `there is no gateway ${JSON.stringify(nameOrAlias)}`)
}
