import type { Authenticate } from '../billing/authenticate.ts'
import type { ConsoleSessions } from '../billing/console-sessions.ts'
import type { ShownSetting } from '../billing/shown-settings.ts'
import type { BillingCore } from '../billing/types.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Payable } from '../payments/payment.ts'
import type { OperatorRole } from '../wire/operator.ts'
import type { SignInLimits } from './limits.ts'
import type { OneTimeLink } from './one-time-link.ts'

/** How the console knows who asks. */
export type Access =
  /** By our own sign-in page. */
  | {
      readonly kind: 'sessions'
      readonly sessions: ConsoleSessions
      readonly limits: SignInLimits
      readonly link?: OneTimeLink | undefined
    }
  /** By the guard of the app that it is part of. */
  | { readonly kind: 'app'; readonly authenticate: Authenticate }

/** Addresses of the merchant's own pages, which the console leads to. */
export interface ConsoleLinks {
  /** Of what a payment is for; undefined: there is none. */
  readonly payable?: (payable: Payable) => string | undefined
}

/** What is there only while an app is developed: nothing of it moves real money. */
export interface DevelopmentTools {
  /** What test callbacks of a gateway can play, by name; none: it cannot sign any. */
  scenarios(gateway: string): readonly { readonly name: string; readonly shows: string }[]
  /**
   * Takes a callback as the provider would sign it, and waits until it is processed. Without a payment
   * it is about the newest one that fits. Errors: those of `quittance send`.
   */
  send(wanted: TestCallback): Promise<SentTestCallback>
}

export interface TestCallback {
  readonly gateway: string
  readonly scenario: string
  readonly paymentId: string | undefined
}

export interface SentTestCallback {
  readonly paymentId: string
  /** What the gateway was answered: 200 is accepted. */
  readonly status: number
  readonly answer: string
  /** The stored call; undefined: it was not accepted. */
  readonly callId: string | undefined
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
  /** Whether the production rules hold. */
  readonly production: boolean
  /** Undefined: nothing is made up here. */
  readonly development: DevelopmentTools | undefined
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
  /** Whether a page asks for itself again: nobody need sit in front of it. */
  readonly isRefresh: boolean
  /** The variable parts of the path. */
  readonly params: Readonly<Record<string, string>>
}
