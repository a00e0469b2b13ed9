import { describeGateways as describe } from '../billing/describe-gateways.ts'
import { gatewayView } from '../wire/gateway.ts'
import { gatewayState } from './gateway-state.ts'
import { withSettings } from './with-settings.ts'

export interface ShownGateway {
  readonly name: string
  readonly view: ReturnType<typeof gatewayView>
  readonly state: string
}

/** Every registered gateway. */
export function describeGateways(): Promise<readonly ShownGateway[]> {
  return withSettings(async (settings) => {
    if (settings.warnings.length > 0) await warn(settings.warnings)
    const described = describe(settings)
    return settings.gateways.list().flatMap((found) => {
      const { gateway } = found
      const description = described[gateway.name]
      if (description === undefined) return []
      const state = gatewayState(found)
      return [{ name: gateway.name, view: gatewayView(description), state }]
    })
  })
}

async function warn(warnings: readonly string[]): Promise<void> {
  const { openLog } = await import('./log.ts')
  const { log, flush } = await openLog('warn')
  for (const warning of warnings) log.warn(warning)
  await flush()
}
