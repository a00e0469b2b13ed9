import { QuittanceError } from '../kernel/errors.ts'
import { titleWithName } from './accounts.ts'
import { neededCredentials } from './credentials.ts'
import type { Operations } from './operations.ts'
import type { RegisteredGateway, Registry } from './registry.ts'

/** The gateway of this name or alias. Error: `gateway_unknown`. */
export function requireGateway(gateways: Registry, nameOrAlias: string): RegisteredGateway {
  const found = gateways.find(nameOrAlias)
  if (found !== undefined) return found
  const names = gateways.list().map(({ gateway }) => gateway.name)
  throw unknownGateway(nameOrAlias, names)
}

/** The error for a name that no gateway has, for callers that have only the names. */
export function unknownGateway(nameOrAlias: string, names: readonly string[]): QuittanceError {
  const text = `gateway ${JSON.stringify(nameOrAlias)} is not registered; there are ${names.join(', ')}`
  return new QuittanceError('gateway_unknown', text)
}

/** What a gateway can be asked to do, by the name of the operation. */
export type Operation = keyof typeof words

const words = {
  checkout: 'open checkouts',
  poll: 'say how a payment stands',
  refund: 'refund payments',
  chargeSavedCard: 'charge saved cards',
  removeSavedCard: 'remove saved cards',
  subscriptions: 'manage subscriptions',
  backfill: 'list the events of the past',
  registration: 'register webhooks',
} as const satisfies Partial<Record<keyof Operations, string>>

/** The operation, ready to be used. Errors: `operation_unsupported`, `gateway_not_configured`. */
export function requireOperation<O extends Operation>(
  found: RegisteredGateway,
  operation: O,
): NonNullable<Operations[O]> {
  const { gateway } = found
  const { [operation]: supported }: Pick<Operations, O> = gateway
  if (supported === undefined || supported === null) {
    const text = `${titleWithName(gateway)} cannot ${words[operation]}`
    throw new QuittanceError('operation_unsupported', text)
  }
  const instead =
    operation === 'checkout'
      ? ', or ask for no checkout (checkout: false, --no-checkout) if it begins elsewhere'
      : ''
  // Registering is what yields the secret of the callbacks.
  if (operation !== 'registration') requireConfigured(found, instead)
  const lacking = lackingCredential(found)
  if (lacking === undefined) return supported
  const text = `gateway ${gateway.name} cannot ${words[operation]} without ${lacking}`
  throw new QuittanceError('gateway_not_configured', text, { fix: `Set ${lacking}${instead}.` })
}

/** Error: `gateway_not_configured`, naming what must be set; `instead`: what else would do. */
export function requireConfigured({ gateway, credentials }: RegisteredGateway, instead = ''): void {
  if (credentials.configured) return
  const needed = neededCredentials(gateway, (name, variable) => `${name} (${variable})`)
  throw new QuittanceError(
    'gateway_not_configured',
    `gateway ${gateway.name} is not configured: it needs ${needed.join(', ')}`,
    { fix: `Set the credentials of the gateway; quittance gateways names them${instead}.` },
  )
}

/** The variable of the credential that requests to the provider need, if it is not set. */
export function lackingCredential({ gateway, credentials }: RegisteredGateway): string | undefined {
  const field = gateway.apiCredential
  if (field === undefined || (credentials.secrets[field]?.length ?? 0) > 0) return undefined
  return gateway.credentials[field]?.env[0] ?? field
}
