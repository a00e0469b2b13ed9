import { Hono, type MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { getPath } from 'hono/utils/url'
import type { Authenticate } from '../billing/authenticate.ts'
import type { BillingCore } from '../billing/types.ts'
import { message } from '../intake/responses.ts'
import { systemClock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Secret } from '../kernel/secret.ts'
import { metricsRoute } from './metrics.ts'
import { ownPaths } from './own-paths.ts'
import { health, type HealthOptions } from './health.ts'
import { apiDocument } from './api/api-document.ts'
import { apiPath } from './api/api-path.ts'
import { docsPage } from './api/docs-page.ts'
import { managementApi } from './api/management-api.ts'
import { browserPages, defaultLimits } from './pages/browser-pages.ts'
import { fakeCheckoutPage } from './pages/fake-checkout-page.ts'
import type { StreamLimits } from './pages/page-context.ts'
import { pathIn } from './mounted-paths.ts'
import { namingRequests, requestIdOf } from './request-id.ts'
import { requireOperator } from './require-operator.ts'
import { requireToken } from './require-token.ts'
import { internalError, notFound, respond } from './respond.ts'
import type { Limits } from './throttle.ts'
import { webhookRoute } from './webhook-route.ts'

/** Where a button settles payments, in development. */
export const checkoutPath = '/billing/fake/checkout'

export interface AppOptions extends Pick<HealthOptions, 'databaseKey'> {
  /** Guards the management API. Without any of these guards, there is no API. */
  readonly apiToken?: readonly Secret[] | undefined
  /** The same, for whoever may only read. */
  readonly readToken?: readonly Secret[] | undefined
  /** Whether the tokens of operators open it: they may be added at any time. */
  readonly operatorTokens?: boolean
  /** The same, in an app. */
  readonly authenticate?: Authenticate | undefined
  /** How wrong tokens are counted; otherwise by this process alone. */
  readonly limits?: Limits | undefined
  /** Whether a page shows the management API, to read and to try; it says no secret. */
  readonly apiDocs?: boolean
  /** Whether the metrics are here: behind a token, or for anybody. */
  readonly metrics?: readonly Secret[] | 'open' | undefined
  /** Pages that others have made, such as the console: each with its own paths. */
  readonly subApps?: readonly Hono[]
  /** Largest body of a callback. */
  readonly maxBodyBytes: number
  readonly webhookMiddleware: readonly MiddlewareHandler[]
  readonly log: Log
  /** Called when the service stops: streams to browsers end. */
  readonly closing?: AbortSignal
  /** How payers' browsers may follow the status of a payment. */
  readonly streams?: Partial<StreamLimits>
}

/** Everything that Quittance answers over HTTP, as one web-standard `fetch`. */
export function createApp(core: BillingCore, options: AppOptions): Hono {
  const { log, closing } = options
  const ownPath = pathIn({ ...core, apiPath }, checkoutPath)
  const app = new Hono({
    getPath(request) {
      const path = getPath(request)
      return ownPath(path) ?? path
    },
  })
  app.use(namingRequests(log))
  // First, and alone on its path: no other handler sees a callback.
  app.use(webhookRoute(core, { ...options, ownPaths }))
  app.route('/', health(core, options))
  const { metrics } = options
  if (metrics !== undefined) {
    const guards =
      metrics === 'open'
        ? []
        : [requireToken({ all: metrics }, { log, what: 'the metrics', limits: options.limits })]
    app.route(
      '/',
      metricsRoute(() => core.metrics(), guards),
    )
  }
  const guard = apiGuard(core, options)
  if (guard !== undefined) {
    // Before the guard: a client is made of it before it has a token.
    app.route(apiPath, apiDocument())
    if (options.apiDocs === true) app.route(apiPath, docsPage(log))
    app.route(apiPath, managementApi(core, { guard, log, closing }))
  }
  app.route(
    checkoutPath,
    fakeCheckoutPage(core, (request) => app.fetch(request)),
  )
  for (const subApp of options.subApps ?? []) app.route('/', subApp)
  const limits = { ...defaultLimits, ...options.streams }
  app.route('/', browserPages({ core, log, now: systemClock, limits, closing }))
  app.notFound(() => respond(notFound))
  app.onError((error, c) => {
    // What the user's middleware throws on purpose, such as 429.
    if (error instanceof HTTPException) {
      return error.res ?? respond(message(error.status, error.message))
    }
    const requestId = requestIdOf(c)
    log.error({ err: error, requestId }, 'a request failed unexpectedly')
    return respond(internalError(requestId))
  })
  return app
}

function apiGuard(
  { origin, operators }: BillingCore,
  { authenticate, apiToken, readToken, operatorTokens = false, log, limits }: AppOptions,
): MiddlewareHandler | undefined {
  if (authenticate !== undefined) return requireOperator(authenticate, origin)
  if (apiToken === undefined && readToken === undefined && !operatorTokens) return undefined
  const ofOperators = operatorTokens ? operators.find : undefined
  return requireToken({ all: apiToken, reading: readToken, ofOperators }, { log, limits })
}
