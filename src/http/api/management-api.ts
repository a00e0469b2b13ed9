import { type Context, Hono, type MiddlewareHandler } from 'hono'
import type { BillingCore } from '../../billing/types.ts'
import type { Log } from '../../kernel/log.ts'
import { canonicalParams } from '../canonical-params.ts'
import { json, onlyAllow } from '../respond.ts'
import { callRoutes } from './calls.ts'
import { endpointRoutes } from './endpoints.ts'
import { apiError } from './errors.ts'
import { eventRoutes } from './events.ts'
import { gatewayRoutes } from './gateways.ts'
import { invoiceRoutes } from './invoices.ts'
import { paymentMethodRoutes } from './payment-methods.ts'
import { paymentRoutes } from './payments.ts'
import { queryOf, readJson, readOptionalJson } from './read-request.ts'
import { isAction, recorded } from './record-action.ts'
import { reviewRoutes } from './reviews.ts'
import type { ApiContext, BodyForm, Method, Route } from './route.ts'
import { runRoutes } from './runs.ts'
import { searchRoutes } from './search.ts'
import { subscriptionWishRoutes } from './subscription-wishes.ts'
import { subscriptionRoutes } from './subscriptions.ts'
import { usageRoutes } from './usage.ts'

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

/** Every route of the management API. */
export const routes: readonly Route[] = [
  ...paymentRoutes,
  ...paymentMethodRoutes,
  ...subscriptionRoutes,
  ...subscriptionWishRoutes,
  ...usageRoutes,
  ...invoiceRoutes,
  ...callRoutes,
  ...reviewRoutes,
  ...runRoutes,
  ...eventRoutes,
  ...endpointRoutes,
  ...gatewayRoutes,
  ...searchRoutes,
]

/** In this order they are named to those who ask with another one. */
const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Answers the routes; any other method of one of their paths is 405. */
function mountRoutes(routes: readonly Route[], context: ApiContext): Hono {
  const api = new Hono()
  const byPath = Map.groupBy(routes, ({ path }) => path)
  for (const path of [...byPath.keys()].toSorted(literalFirst)) {
    const ofPath = byPath.get(path) ?? []
    const honoPath = path.replaceAll(/\{(\w+)\}/g, ':$1')
    for (const route of ofPath) api.on(route.method, honoPath, (c) => answer(route, c, context))
    api.all(honoPath, onlyAllow(allowed(ofPath)))
  }
  return api
}

/** `/invoices/export` before `/invoices/{id}`, which would take it for an id. */
function literalFirst(one: string, other: string): number {
  const [a, b] = [one, other].map((path) => path.replaceAll('{', '\u{10ffff}'))
  return a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1
}

/** Whoever answers GET answers HEAD. */
function allowed(routes: readonly Route[]): string {
  return methods
    .filter((method) => routes.some((route) => route.method === method))
    .map((method) => (method === 'GET' ? 'GET, HEAD' : method))
    .join(', ')
}

function answer(route: Route, c: Context, context: ApiContext): Promise<Response> {
  const work = () => handle(route, c, context)
  return isAction(route) ? recorded({ route, c, ...context }, work) : work()
}

async function handle(route: Route, c: Context, context: ApiContext): Promise<Response> {
  const query = route.query && queryOf(c, route.query)
  const body = route.body && (await bodyOf(c, route.body))
  const answered = await route.handle({
    ...context,
    params: canonicalParams(c.req.param()),
    query,
    body,
    c,
  })
  return answered instanceof Response ? answered : json(answered.status, answered.body)
}

async function bodyOf(c: Context, { read, mayBeEmpty, mostBytes }: BodyForm<unknown>) {
  const readGiven = mayBeEmpty === true ? readOptionalJson : readJson
  return read(await readGiven(c, mostBytes))
}
