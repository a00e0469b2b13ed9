import type { Authenticate } from '../billing/authenticate.ts'
import type { BillingCore } from '../billing/types.ts'
import { systemClock } from '../kernel/clock.ts'
import { newUuid } from '../kernel/ids.ts'
import { createLog, withSafeErrors, type Log } from '../kernel/log.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { scrubbing } from '../kernel/secret.ts'
import { consoleApp } from './console-app.ts'
import type { ConsoleLinks } from './context.ts'
import { hostsOf } from './hosts.ts'

export type { ConsoleLinks } from './context.ts'

/** Where the console of an app is, and who gets in. */
export interface OperatorConsoleOptions {
  /** Where it is mounted, such as `/admin/billing`. */
  readonly path: string
  /**
   * Names under which the app is reached, such as `admin.example.com`: at any other, pages answer
   * 421, so that no other site can have its own name lead here. With a port, at that port alone.
   */
  readonly hosts: readonly string[]
  /** The app's own guard: who asks, undefined for 403, or what is answered instead. */
  readonly authenticate: Authenticate
  readonly links?: ConsoleLinks
  /** A pino logger; by default warnings and errors go to standard error. */
  readonly log?: Log
}

/** The console of an app: its pages as one web-standard `fetch`, which `nodeHandler` mounts. */
export interface OperatorConsole {
  /** Where it is mounted, as given. */
  readonly path: string
  /** `env` is what the runtime passes beside the request: `c.env` of Hono, `{ incoming }` on Node. */
  fetch(request: Request, env?: unknown): Promise<Response>
}

/** The operator console as a part of an app, behind the app's own guard. Error: setting_invalid. */
export function operatorConsole(
  billing: BillingCore,
  options: OperatorConsoleOptions,
): OperatorConsole {
  const { path, hosts, authenticate, links = {} } = options
  if (!/^(?:\/[\w.~-]+)+$/.test(path)) {
    throw new QuittanceError('setting_invalid', 'path must be like /admin/billing', {
      fix: 'Give the path that the pages are mounted at, without a slash at the end.',
    })
  }
  const app = consoleApp({
    core: billing.forPeople(),
    path,
    isHost: hostsOf(hosts),
    access: { kind: 'app', authenticate },
    links,
    production: true,
    development: undefined,
    isEmbedded: false,
    ownSettings: [],
    log: withSafeErrors(
      options.log ?? createLog({ level: 'warn', destination: process.stderr }),
      billing[scrubbing],
    ),
    now: systemClock,
    newId: newUuid,
  })
  return { path, fetch: async (request, env) => app.fetch(request, env ?? {}) }
}
