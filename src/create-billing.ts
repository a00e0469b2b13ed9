import { coreOf } from './billing/create-core.ts'
import type {
  BillingNames,
  DeclaredNames,
  NamedGateways,
  WithNames,
} from './billing/declared-names.ts'
import type { BillingCore } from './billing/types.ts'
import { apiPath } from './http/api/api-path.ts'
import { createApp } from './http/app.ts'
import { hasFields } from './kernel/has-fields.ts'
import { isQuittanceError } from './kernel/errors.ts'
import { createLog } from './kernel/log.ts'
import type { ListenedToByName, WithListeners } from './billing/listeners-option.ts'
import type { BillingOptions } from './billing/options.ts'
import { replaceListeners } from './billing/replace-listeners.ts'
import { createRuntime, type Runtime } from './billing/runtime.ts'

/** Quittance inside an app: everything that the service does, and its routes as one function. */
export type Billing<Names extends BillingNames = BillingNames> = BillingCore<Names> & {
  /**
   * Answers the webhook route, payers' pages, the health routes, and behind `api.authenticate` the
   * management API. Never throws.
   * `env` is what the runtime passes beside the request: `c.env` of Hono, the server of Bun.
   * Middleware finds the sender's address in it.
   */
  fetch(request: Request, env?: unknown): Promise<Response>
  /** Where the management API is; undefined without `api.authenticate`. */
  readonly apiPath: string | undefined
}

/** The names that the options declare are inferred. */
type MakeBilling = <
  const On extends ListenedToByName,
  const Plan extends string = string,
  const Quota extends string = string,
  const Account extends string = never,
  const Extra extends string = never,
>(
  options?: WithNames<WithListeners<BillingOptions, On>, Plan, Quota, Account> & {
    readonly extraGateways?: NamedGateways<Extra>
  },
) => Billing<DeclaredNames<Plan, Quota, Account | Extra>>

/**
 * Makes a `billing` for use inside an app. Nothing is opened before `start()` or the first use.
 * Without a `log` from the app, warnings and errors go to standard error, one JSON line each.
 * Errors: every wrong setting throws a `QuittanceError` here; database errors are thrown by
 * `start()`.
 */
export const createBilling = ((options: BillingOptions = {}): Billing =>
  billingOf(pointingAt(createBilling, () => runtimeOf(options)))) as MakeBilling

/** A wrong option is thrown with the line of the app that gave it, not with lines of ours. */
function pointingAt(called: MakeBilling, make: () => Runtime): Runtime {
  try {
    return make()
  } catch (error) {
    if (isQuittanceError(error)) Error.captureStackTrace(error, called)
    throw error
  }
}

function runtimeOf(options: BillingOptions): Runtime {
  // What is wrong with them is said where they are read.
  if (!hasFields(options)) return createRuntime(options)
  const log = options.log ?? createLog({ level: 'warn', destination: process.stderr })
  const runtime = createRuntime({ ...options, log })
  for (const warning of runtime.settings.warnings) runtime.settings.log.warn(warning)
  return runtime
}

/** Of the process, whichever copy of this module is asked: bundlers make several. */
const sharedKey = Symbol.for('quittance.billing')
const ofProcess = globalThis as { [sharedKey]?: Shared }

interface Shared {
  readonly billing: Billing
  replaceListeners(now: BillingOptions['listeners']): void
}

/**
 * The one `billing` of a process, until it is closed. The first call makes it, others return it: for
 * frameworks that load modules more than once, such as Next.js. A further call replaces what the
 * option `listeners` runs, so that edited ones are heard while an app is developed; the other
 * options count at the first call. Errors: those of `createBilling`; listener_too_late where
 * `listeners` names others than before.
 */
export const sharedBilling = ((options: BillingOptions = {}): Billing => {
  const shared = ofProcess[sharedKey]
  if (shared === undefined)
    return share(
      pointingAt(sharedBilling, () => runtimeOf(options)),
      options,
    )
  shared.replaceListeners(options.listeners)
  return shared.billing
}) as MakeBilling

function share(runtime: Runtime, options: BillingOptions): Billing {
  const made = billingOf(runtime)
  const close = () => {
    if (ofProcess[sharedKey]?.billing === billing) delete ofProcess[sharedKey]
    return made.close()
  }
  const billing: Billing = { ...made, close, [Symbol.asyncDispose]: close }
  const { listeners: before = {} } = options
  ofProcess[sharedKey] = {
    billing,
    replaceListeners: (now = {}) => replaceListeners(runtime.listeners, { before, now }),
  }
  return billing
}

/** The operations and the routes over a runtime. */
export function billingOf(runtime: Runtime): Billing {
  const { apiDocs, authenticate, log, maxBodyBytes, webhookMiddleware } = runtime.settings
  const core = coreOf(runtime)
  const { databaseKey } = runtime
  const guarded = { apiDocs, authenticate, databaseKey, maxBodyBytes, webhookMiddleware, log }
  const app = createApp(core, guarded)
  const fetch = async (request: Request, env?: unknown) => app.fetch(request, env ?? {})
  return { ...core, fetch, apiPath: authenticate && apiPath }
}
