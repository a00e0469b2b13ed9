import { gatewaysSchema, gatewayView } from '../../wire/gateway.ts'
import { route } from './route.ts'

/** `/gateways` of the management API. */
export const gatewayRoutes = [
  route({
    name: 'listGateways',
    method: 'GET',
    path: '/gateways',
    summary: 'Every registered gateway, by its name',
    answers: { 200: gatewaysSchema },
    handle: ({ core }) => {
      const views = Object.entries(core.gateways()).map(
        ([name, gateway]) => [name, gatewayView(gateway)] as const,
      )
      return { status: 200, body: Object.fromEntries(views) }
    },
  }),
]
