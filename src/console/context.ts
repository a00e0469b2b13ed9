import type { Authenticate } from '../billing/authenticate.ts'
import type { ConsoleSessions } from '../billing/console-sessions.ts'
import type { ShownSetting } from '../billing/shown-settings.ts'
import type { BillingCore } from '../billing/types.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Payable } from '../payments/payment.ts'
import type { OperatorRole } from '../wire/operator.ts'
import type { OneTimeLink } from './one-time-link.ts'

/** How the console knows who asks. */
export type Access =
  /** By our own sign-in page. */
  | {
      readonly kind: 'sessions'
      readonly sessions: ConsoleSessions
      readonly link?: OneTimeLink | undefined
    }
  /** By the guard of the app that it is part of. */
  | { readonly kind: 'app'; readonly authenticate: Authenticate }

/** Addresses of the merchant's own pages, which the console leads to. */
export interface ConsoleLinks {
  /** Of what a payment is for; undefined: there is none. */
  readonly payable?: (payable: Payable) => string | undefined
}

/** What all pages of a console need. */
export interface ConsoleContext {
  readonly core: BillingCore
  /** Where it is, without a slash at the end. */
  readonly path: string
  /** Whether requests to this host, with its port, are for us. */
  readonly isHost: (host: string) => boolean
  readonly access: Access
  readonly links: ConsoleLinks
  /** Whether the production rules hold: then nothing is made up here. */
  readonly production: boolean
  readonly isEmbedded: boolean
  /** What is set of the process itself, besides the settings of the library. */
  readonly ownSettings: readonly ShownSetting[]
  readonly log: Log
  readonly now: Clock
  readonly newId: () => string
}

/** Who looks at a page. */
export interface Visitor {
  readonly name: string
  readonly role: OperatorRole
  /** A secret of the browser; its forms carry what is made of it. */
  readonly key: string
  /** Undefined behind an app's own guard. */
  readonly session: VisitorSession | undefined
}

export interface VisitorSession {
  readonly id: string
  /** Whether the token was shown so lately that money may be moved. */
  readonly isProved: boolean
}

/** One request of somebody who may see it. */
export interface Visit {
  readonly console: ConsoleContext
  readonly visitor: Visitor
  readonly url: URL
  /** The variable parts of the path. */
  readonly params: Readonly<Record<string, string>>
}
