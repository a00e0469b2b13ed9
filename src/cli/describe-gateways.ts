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
  return withSettings((settings) => {
    const described = describe(settings)
    return settings.gateways.list().flatMap(({ gateway, credentials }) => {
      const description = described[gateway.name]
      if (description === undefined) return []
      const state = gatewayState(gateway, credentials.configured)
      return [{ name: gateway.name, view: gatewayView(description), state }]
    })
  })
}
