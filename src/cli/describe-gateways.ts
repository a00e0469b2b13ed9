import { builtin } from '../gateways/builtin.ts'
import { gatewayView } from '../http/wire.ts'
import { gatewayState } from './gateway-state.ts'
import { withCore } from './open-core.ts'

export interface ShownGateway {
  readonly name: string
  readonly view: ReturnType<typeof gatewayView>
  readonly state: string
}

/** Every registered gateway. Needs no database. */
export function describeGateways(): Promise<readonly ShownGateway[]> {
  return withCore(
    (core, { options }) => {
      const gateways = [...builtin, ...options.extraGateways]
      const described = core.gateways()
      return Promise.resolve(
        gateways.flatMap((gateway) => {
          const { name } = gateway
          const description = described[name]
          if (description === undefined) return []
          const state = gatewayState(gateway, description.configured)
          return [{ name, view: gatewayView(description), state }]
        }),
      )
    },
    { start: false },
  )
}
