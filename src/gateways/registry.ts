import type { Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { builtin } from './builtin.ts'
import { notConfigured } from './credentials.ts'
import { descriptorFault } from './descriptor.ts'
import type { Gateway } from './gateway.ts'
import type { Credentials } from './credential-fields.ts'

export interface RegisteredGateway {
  readonly gateway: Gateway
  readonly credentials: Credentials
}

export interface Registry {
  /** By exact name or alias; upper and lower case differ. */
  find(nameOrAlias: string): RegisteredGateway | undefined
  /** Each gateway once, in the order of registration. */
  list(): readonly RegisteredGateway[]
  /**
   * Names of the headers that carry credentials of any of these gateways, or of any built-in one.
   */
  readonly credentialHeaders: ReadonlySet<string>
  /** How long the most persistent provider keeps redelivering; 0 without gateways. */
  longestRetryWindow(): Duration
}

/**
 * Finds gateways by name at request time. A gateway without credentials is listed, too: it counts
 * as not configured. Error: `setting_invalid` for a name used twice or a fault in a descriptor.
 */
export function createRegistry(
  gateways: readonly Gateway[],
  credentialsByName: Readonly<Record<string, Credentials>>,
): Registry {
  const credentials = new Map(Object.entries(credentialsByName))
  const byName = new Map<string, RegisteredGateway>()
  const registered = gateways.map((gateway) => {
    const entry = { gateway, credentials: credentials.get(gateway.name) ?? notConfigured }
    refuseDescriptorFaults(gateway)
    for (const name of [gateway.name, ...gateway.aliases]) claimName(byName, name, entry)
    return entry
  })
  return {
    find: (nameOrAlias) => byName.get(nameOrAlias),
    list: () => registered,
    credentialHeaders: new Set(
      [...builtin, ...gateways].flatMap((gateway) => gateway.credentialHeaders),
    ),
    longestRetryWindow: () => Math.max(0, ...gateways.map((gateway) => gateway.retryWindow)),
  }
}

const fix = 'Correct the descriptor of the gateway, or remove it from the registered ones.'

/** Error: `setting_invalid` for a fault in a descriptor. */
export function refuseDescriptorFaults(gateway: Gateway): void {
  const fault = descriptorFault(gateway)
  if (fault === undefined) return
  const name = JSON.stringify(gateway.name)
  throw new QuittanceError('setting_invalid', `gateway ${name}: ${fault}`, { fix })
}

function claimName(
  byName: Map<string, RegisteredGateway>,
  name: string,
  entry: RegisteredGateway,
): void {
  const taken = byName.get(name)
  if (taken !== undefined) {
    throw new QuittanceError(
      'setting_invalid',
      `gateway ${entry.gateway.name}: the name ${name} belongs to gateway ${taken.gateway.name}`,
      { fix },
    )
  }
  byName.set(name, entry)
}
