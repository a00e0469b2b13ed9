import { driverOf } from './accounts.ts'
import type { Registry } from './registry.ts'

/** Several names for one account at the provider. */
export interface SharedSecret {
  readonly names: readonly string[]
  readonly field: string
}

/** Secrets that gateways of one driver have in common: each then gets the others' callbacks. */
export function sharedSecrets(gateways: Registry): readonly SharedSecret[] {
  const owners = new Map<string, { readonly field: string; readonly names: Set<string> }>()
  for (const { gateway, credentials } of gateways.list()) {
    for (const [field, secrets] of Object.entries(credentials.secrets)) {
      for (const one of secrets) {
        const key = JSON.stringify([driverOf(gateway), field, one.reveal()])
        const known = owners.get(key) ?? { field, names: new Set() }
        known.names.add(gateway.name)
        owners.set(key, known)
      }
    }
  }
  // Two that share an old and a new secret share them once.
  const shared = new Map<string, SharedSecret>()
  for (const { field, names } of owners.values()) {
    const all = { field, names: [...names] }
    if (names.size > 1) shared.set(JSON.stringify(all), all)
  }
  return [...shared.values()]
}
