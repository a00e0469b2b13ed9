import type { MiddlewareHandler } from 'hono'
import type { QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import type { EventType } from '../events/catalogue.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { Listener, ListenerOptions, QueuedListener } from '../listeners/listener.ts'

/** A listener as a function (its name counts), or with options. */
export type ListenerEntry<T extends EventType> =
  | (Listener<T> & NotQueued)
  | (ListenerOptions & { readonly queued?: false | undefined; readonly listener: Listener<T> })
  | (ListenerOptions & { readonly queued: true; readonly listener: QueuedListener<T> })

/** A discriminant in every form lets TypeScript infer the parameters of an entry's listener. */
type NotQueued = { readonly queued?: undefined }

/** Listeners by the event that they listen to: one, or a list. */
export type ListenersOption = {
  readonly [T in EventType]?: ListenerEntry<T> | (readonly ListenerEntry<T>[] & NotQueued)
}

/** Everything that `createBilling` and quittance.config.ts take; all of it is optional. */
export interface BillingOptions {
  /** Public origin of this service, e.g. `https://pay.example.com`: callback URLs begin with it. */
  readonly url?: string
  readonly database?: {
    /** `postgres://...`; without it the embedded database is used. */
    readonly url?: string
    /** Folder of the embedded database; default `.quittance`. */
    readonly dataDir?: string
    /** An embedded database that is gone after `close()`: for tests. */
    readonly memory?: boolean
    /** Use the running embedded database of `dataDir` if there is one, else open it here. */
    readonly attach?: boolean
    /** Accept the embedded database under NODE_ENV=production: it does not survive a power cut. */
    readonly allowEmbeddedInProduction?: boolean
    /** Connections at most (PostgreSQL; default 10). */
    readonly poolSize?: number
  }
  readonly webhook?: {
    /** Route path with the segment `{gateway}`. */
    readonly path?: string
    /** Hono middleware for the webhook route alone. */
    readonly middleware?: readonly MiddlewareHandler[]
    /** Days before stored calls are pruned; default 30. */
    readonly prune_after_days?: number
    /** Largest body in bytes; default 1 MiB. */
    readonly max_body_bytes?: number
  }
  readonly billing?: {
    readonly queue?: {
      /** `database` (also for null, the default) or `sync`. */
      readonly connection?: string | null
      /** Name written on new calls; `default` for null, the default. */
      readonly queue?: string | null
    }
    /**
     * 32 bytes in base64; several, separated by commas, while the key is changed: the first one
     * encrypts. Callbacks with card tokens, and the tokens of saved cards, are kept only with it.
     */
    readonly encryption_key?: string
  }
  readonly review?: {
    /**
     * Whether callbacks of money of a payment that is unknown after a day are marked for review;
     * default true. Turn it off where other systems use the same provider account with UUIDs.
     */
    readonly unknown_payments?: boolean
  }
  /** Credentials by gateway name and field; the environment wins. */
  readonly gateways?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Gateways besides the built-in ones. */
  readonly extraGateways?: readonly Gateway[]
  readonly listeners?: ListenersOption
  /**
   * Origins that a payer may be sent on to after the checkout (`return_url`), besides that of
   * `url`, e.g. `https://shop.example.com`. In development every origin of this machine is.
   */
  readonly return_origins?: readonly string[]
  /** How long a provider may take to answer an operation; default 20 s. */
  readonly providerTimeoutMs?: number
  /** What the in-transaction listeners of one call may take, 25 s at most; default 20 s, embedded 1 s. */
  readonly listenerBudgetMs?: number
  /** Environment-like texts that credentials are read from; the service passes its own. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /**
   * Production rules: no fake gateway, no embedded database. By default what NODE_ENV in
   * `environment` says.
   */
  readonly production?: boolean
  /** A pino logger. By default an app gets warnings and errors on standard error, as JSON lines. */
  readonly log?: Log
  /** The embedded database ended by itself: this process cannot go on. */
  readonly onLost?: (error: QuittanceError) => void
}

/** Of the service's own server; an app that mounts the routes has its own. */
export interface HttpOptions {
  /**
   * Open connections at most, default 1,000. Above that the one that has been idle for longest is
   * closed for a new one, or where all are busy the new one is refused.
   */
  readonly max_connections?: number
  /**
   * Connections of one address (IPv6: one /64), once three quarters of all are open; default 50.
   * Below that one address, which may be a proxy, may have them all.
   */
  readonly connections_per_address?: number
  /** How long a connection stays open between two requests; default 65. */
  readonly keep_alive_seconds?: number
}

/** What quittance.config.ts may hold: the rest is for whoever opens the billing to say. */
export type ConfigFileOptions = Omit<
  BillingOptions,
  'database' | 'environment' | 'log' | 'onLost'
> & {
  readonly database?: Omit<NonNullable<BillingOptions['database']>, 'attach'>
  readonly http?: HttpOptions
}

/** Types the default export of quittance.config.ts. */
export function defineConfig(options: ConfigFileOptions): ConfigFileOptions {
  return options
}
