import { builtin } from '../gateways/builtin.ts'
import { gatewayView } from '../http/wire.ts'
import { withCore } from './open-core.ts'

export interface ShownGateway {
  readonly name: string
  readonly view: ReturnType<typeof gatewayView>
  /** Variables without which it rejects every callback. */
  readonly missing: readonly string[]
}

/** Every registered gateway. Needs no database. */
export function describeGateways(): Promise<readonly ShownGateway[]> {
  return withCore(
    (core, { options }) => {
      const gateways = [...builtin, ...(options.extraGateways ?? [])]
      const described = core.gateways()
      return Promise.resolve(
        gateways.flatMap(({ name, credentials }) => {
          const description = described[name]
          if (description === undefined) return []
          const missing = Object.values(credentials).flatMap(({ required, env }) =>
            required ? env.slice(0, 1) : [],
          )
          return [{ name, view: gatewayView(description), missing }]
        }),
      )
    },
    { start: false },
  )
}
