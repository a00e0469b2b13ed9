import { driverOf } from './accounts.ts'
import type { RegisteredGateway, Registry } from './registry.ts'

/** Two names for one account at the provider. */
export interface SharedSecret {
  /** Names of gateways. */
  readonly between: readonly [string, string]
  readonly field: string
}

/** Secrets that two gateways of one driver have: each of them then gets the other's callbacks. */
export function sharedSecrets(gateways: Registry): readonly SharedSecret[] {
  const all = gateways.list()
  return all.flatMap((one, at) =>
    all
      .slice(at + 1)
      .filter((other) => driverOf(one.gateway) === driverOf(other.gateway))
      .flatMap((other) =>
        fieldsOfBoth(one, other).map((field): SharedSecret => ({
          between: [one.gateway.name, other.gateway.name],
          field,
        })),
      ),
  )
}

function fieldsOfBoth(one: RegisteredGateway, other: RegisteredGateway): readonly string[] {
  return Object.entries(one.credentials.secrets).flatMap(([field, secrets]) => {
    const others = new Set(other.credentials.secrets[field]?.map((secret) => secret.reveal()))
    return secrets.some((secret) => others.has(secret.reveal())) ? [field] : []
  })
}
