import { createCore } from './billing/create-core.ts'
import type { BillingCore } from './billing/types.ts'
import { createApp } from './http/app.ts'
import { silentLog } from './kernel/log.ts'
import type { BillingOptions } from './billing/options.ts'

/** Quittance inside an app: everything that the service does, and its routes as one function. */
export type Billing = BillingCore & {
  /** Answers the webhook route and the health routes; the management API stays off. */
  fetch(request: Request): Promise<Response>
}

const defaultBodyBytes = 1024 * 1024

/**
 * Makes a `billing` for use inside an app. Nothing is opened before `start()` or the first use.
 * Errors: every setting that is wrong throws a `QuittanceError` here, the database's in `start()`.
 */
export function createBilling(options: BillingOptions = {}): Billing {
  const core = createCore(options)
  const app = createApp(core, {
    apiToken: undefined,
    maxBodyBytes: options.webhook?.max_body_bytes ?? defaultBodyBytes,
    webhookMiddleware: options.webhook?.middleware ?? [],
    log: options.log ?? silentLog,
  })
  return { ...core, fetch: async (request) => app.fetch(request) }
}
