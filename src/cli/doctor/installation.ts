import { registerOptionListeners } from '../../billing/register-option-listeners.ts'
import { listGateways, type ListedGateway } from '../../billing/list-gateways.ts'
import { readSettings, type Settings } from '../../billing/settings.ts'
import { builtin } from '../../gateways/builtin.ts'
import { descriptorFault } from '../../gateways/descriptor.ts'
import type { Gateway } from '../../gateways/gateway.ts'
import type { Registry } from '../../gateways/registry.ts'
import { createListenerRegistry, type ListenerRegistry } from '../../listeners/listeners.ts'
import type { InspectedConfiguration } from '../env.ts'
import type { DatabaseState } from './open-for-diagnosis.ts'

/** What the checks look at; a missing part could not be created. */
export interface Installation {
  readonly inspected: InspectedConfiguration
  readonly production: boolean
  /** All known gateways, whether their settings are right or not. */
  readonly gateways: readonly ListedGateway[]
  readonly checked: Checked<Settings>
  readonly listeners: Checked<ListenerRegistry>
  readonly database: DatabaseState
}

export type Checked<T> = { readonly value: T } | { readonly fault: unknown }

/** Everything but the database, which takes time. */
export function installationOf(inspected: InspectedConfiguration): Omit<Installation, 'database'> {
  const { options } = inspected.configuration
  const [fault] = inspected.faults
  return {
    inspected,
    production: options.production,
    // What is wrong in a descriptor, or of an account, is said by the check of the settings.
    gateways: listGateways(
      [...builtin, ...options.extraGateways].filter(
        (gateway) => descriptorFault(gateway) === undefined,
      ),
      options,
    ).listed,
    checked: fault === undefined ? attempt(() => readSettings(options)) : { fault },
    listeners: attempt(() => {
      const registry = createListenerRegistry()
      registerOptionListeners(registry, options.listeners)
      return registry
    }),
  }
}

function attempt<T>(make: () => T): Checked<T> {
  try {
    return { value: make() }
  } catch (fault) {
    return { fault }
  }
}

/** Names of the gateways that the service registers; if its settings are wrong, of those that are listed. */
export function knownNames({
  checked,
  gateways,
}: Pick<Installation, 'checked' | 'gateways'>): readonly string[] {
  const known = 'fault' in checked ? gateways : checked.value.gateways.list()
  return known.map(({ gateway }) => gateway.name)
}

/** Names of the gateways that take callbacks now. */
export function configuredNames(
  registry: Registry,
  verification: Gateway['verification'],
): readonly string[] {
  return registry
    .list()
    .filter(({ gateway, credentials }) => {
      return credentials.configured && gateway.verification === verification
    })
    .map(({ gateway }) => gateway.name)
}
