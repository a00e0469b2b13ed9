import { listSchedules } from '../database/list-schedules.ts'
import { requireGateway } from '../gateways/require.ts'
import { gatewaySetup } from './gateway-setup.ts'
import { handle } from './handles.ts'
import type { InspectOperations, ShownSettings } from './inspect-types.ts'
import type { Runtime } from './runtime.ts'

/** `billing.inspect` */
export function inspectOperations(runtime: Runtime): InspectOperations {
  const opened = (what: string) => handle(runtime, `billing.inspect.${what}`)
  return {
    settings: () => settingsOf(runtime),
    gatewaySetup: (name) => gatewaySetup(requireGateway(runtime.settings.gateways, name)),
    schedules: async () => listSchedules(await opened('schedules')),
  }
}

function settingsOf({ settings }: Runtime): ShownSettings {
  const { production, queueConnection, retentionDays, shown, warnings } = settings
  return {
    production,
    database: settings.database.url === undefined ? 'embedded' : 'postgres',
    queueConnection,
    retentionDays,
    settings: shown,
    warnings,
  }
}
