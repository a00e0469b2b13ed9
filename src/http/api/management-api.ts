import { Hono, type MiddlewareHandler } from 'hono'
import type { BillingCore } from '../../billing/types.ts'
import type { Log } from '../../kernel/log.ts'
import { apiError } from './errors.ts'
import { mountRoutes } from './mount-routes.ts'
import { routes } from './routes.ts'

export interface ManagementApiOptions {
  /** Lets only those through who may ask. */
  readonly guard: MiddlewareHandler
  readonly log: Log
  /** Called when the service stops. */
  readonly closing?: AbortSignal | undefined
}

/** `/billing/api`: for a merchant's server and an operator's scripts. */
export function managementApi(core: BillingCore, options: ManagementApiOptions): Hono {
  const { guard, log, closing } = options
  const api = new Hono()
  api.onError((error, c) => apiError(error, c, log))
  api.use(guard)
  api.route('/', mountRoutes(routes, { core, log, closing }))
  return api
}
