import type { KnownSchedule } from '../database/list-schedules.ts'
import type { GatewaySetup } from './gateway-setup.ts'
import type { ShownSetting } from './shown-settings.ts'

/** How a service is set up. */
export interface ShownSettings {
  /** Whether the production rules hold. */
  readonly production: boolean
  readonly database: 'embedded' | 'postgres'
  /** Whether workers process the stored calls, or requests do. */
  readonly queueConnection: 'database' | 'sync'
  readonly retentionDays: number
  /** Those that are not as they are by default. */
  readonly settings: readonly ShownSetting[]
  /** What is not as it should be, but can be lived with. */
  readonly warnings: readonly string[]
}

/** `billing.inspect`: what the people who run it look at. */
export interface InspectOperations {
  /** How the service is set up; of secrets, nothing but that they are set. */
  settings(): ShownSettings
  /** What a gateway has of what it needs, by name or alias. Error: gateway_unknown. */
  gatewaySetup(name: string): GatewaySetup
  /** What is done at its times, by name. */
  schedules(): Promise<readonly KnownSchedule[]>
}
