import { coreOf } from './billing/create-core.ts'
import type { BillingCore } from './billing/types.ts'
import { createApp } from './http/app.ts'
import { internalError, respond } from './http/respond.ts'
import { hasFields } from './kernel/has-fields.ts'
import { createLog } from './kernel/log.ts'
import type { ListenedToByName, WithListeners } from './billing/listeners-option.ts'
import type { BillingOptions } from './billing/options.ts'
import { createRuntime, type Runtime } from './billing/runtime.ts'

/** Quittance inside an app: everything that the service does, and its routes as one function. */
export type Billing = BillingCore & {
  /**
   * Answers the webhook route and the health routes; the management API stays off. Never throws.
   * `env` is what the runtime passes beside the request: `c.env` of Hono, the server of Bun.
   * Middleware finds the sender's address in it.
   */
  fetch(request: Request, env?: unknown): Promise<Response>
}

/**
 * Makes a `billing` for use inside an app. Nothing is opened before `start()` or the first use.
 * Without a `log` from the app, warnings and errors go to standard error, one JSON line each.
 * Errors: every wrong setting throws a `QuittanceError` here; database errors are thrown by
 * `start()`.
 */
export function createBilling<const On extends ListenedToByName>(
  options?: WithListeners<BillingOptions, On>,
): Billing
export function createBilling(options: BillingOptions = {}): Billing {
  // What is wrong with them is said where they are read.
  if (!hasFields(options)) return billingOf(createRuntime(options))
  const log = options.log ?? createLog({ level: 'warn', destination: process.stderr })
  const runtime = createRuntime({ ...options, log })
  for (const warning of runtime.settings.warnings) runtime.settings.log.warn(warning)
  return billingOf(runtime)
}

/** The operations and the routes over a runtime. */
export function billingOf(runtime: Runtime): Billing {
  const { log, maxBodyBytes, webhookMiddleware } = runtime.settings
  const core = coreOf(runtime)
  const { databaseKey } = runtime
  const app = createApp(core, {
    apiToken: undefined,
    maxBodyBytes,
    webhookMiddleware,
    log,
    databaseKey,
  })
  const fetch = async (request: Request, env?: unknown) => {
    try {
      return await app.fetch(request, env ?? {})
    } catch (error) {
      // Hono passes on what is thrown but is no Error.
      log.error({ err: error }, 'a request failed unexpectedly')
      return respond(internalError)
    }
  }
  return { ...core, fetch }
}
